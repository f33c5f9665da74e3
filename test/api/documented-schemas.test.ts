/** Schemas of the OpenAPI document that a client can satisfy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiWorld } from './world.ts';

type Schema = {
  readonly $ref?: string;
  readonly additionalProperties?: unknown;
  readonly allOf?: readonly Schema[];
};

test('no schema extends a closed one, which would refuse whatever the extension adds', async () => {
  type Document = { readonly components: { readonly schemas: Readonly<Record<string, Schema>> } };
  const { components } = (await apiWorld().ask<Document>('GET', '/openapi.json')).body;
  const isClosed = ({ $ref, additionalProperties }: Schema): boolean =>
    additionalProperties === false ||
    ($ref !== undefined && isClosed(components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}));
  const extending = Object.values(components.schemas).filter(({ allOf = [] }) => allOf.length > 1);
  for (const schema of extending) assert.ok(!schema.allOf?.some(isClosed), JSON.stringify(schema));
});
