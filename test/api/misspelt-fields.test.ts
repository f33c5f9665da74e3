/**
 * A misspelt field of any body is refused with the name that was probably meant: every field of every schema is
 * misspelt once.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as z from 'zod';
import { errorsMax } from '../../shared/api/http/problem.ts';
import { desiredSchema } from '../../shared/api/routes/desired.ts';
import { probeRequestSchema } from '../../shared/api/routes/probe.ts';
import { keptOutOfManifestAt, keptOutOfReportAt } from '../../shared/api/schema/kept-out.ts';
import { manifestSchema } from '../../shared/api/schema/manifest-schema.ts';
import type { NamesAt, Path } from '../../shared/api/schema/shape.ts';
import { statusReportSchema } from '../../shared/api/schema/status-report.ts';
import { at } from '../../shared/core/spec/field-problem.ts';
import type { AnswerBody } from '../support/api-client.ts';
import { apiWorld, inRegistered, inWorld, targetPath, targetsPath } from './world.ts';

type ObjectAt = { readonly path: Path; readonly fields: readonly string[] };

/** Every object of a body, with the names of its fields. */
function objectsOf(schema: z.core.$ZodType, path: Path = []): readonly ObjectAt[] {
  if (schema instanceof z.ZodOptional) return objectsOf(schema.def.innerType, path);
  if (schema instanceof z.ZodArray) return objectsOf(schema.def.element, [...path, 0]);
  if (!(schema instanceof z.ZodObject)) return [];
  const below = Object.entries(schema.shape).flatMap(([name, part]) => objectsOf(part, [...path, name]));
  return [{ path, fields: Object.keys(schema.shape) }, ...below];
}

/** Without its second letter, or with another one where that leaves a field of the same object. */
function misspelt(field: string, fields: readonly string[]): string {
  const shorter = field[0] + field.slice(2);
  return fields.includes(shorter) ? `${field}x` : shorter;
}

const pointerOf = (path: Path): string => path.reduce<string>(at, '');

const bodyAt = (path: Path, value: unknown): unknown =>
  path.reduceRight<unknown>((inner, token) => (typeof token === 'number' ? [inner] : { [token]: inner }), value);

type Body = {
  readonly schema: z.core.$ZodType;
  readonly method: string;
  readonly url: string;
  readonly keptOutAt?: NamesAt;
};

const target = targetPath('checkout');
const bodies: Readonly<Record<string, Body>> = {
  manifest: { schema: manifestSchema, method: 'PUT', url: target, keptOutAt: keptOutOfManifestAt },
  'status report': { schema: statusReportSchema, method: 'PUT', url: `${target}/status`, keptOutAt: keptOutOfReportAt },
  'desired set': { schema: desiredSchema, method: 'PUT', url: '/v1/namespaces/default/desired' },
  'probe request': { schema: probeRequestSchema, method: 'POST', url: `${target}/probe` },
};

/** Of a Pod's status all but podIP is kept out, so a misspelt one is named in the Warning instead. */
const isKeptOut = (name: string, path: Path): boolean => name === 'manifest' && pointerOf(path) === '/status';

for (const [name, { schema, method, url, keptOutAt }] of Object.entries(bodies))
  describe(`every field of a ${name}, misspelt`, () => {
    for (const { path, fields } of objectsOf(schema).filter((each) => !isKeptOut(name, each.path)))
      inWorld(`in ${pointerOf(path) || 'the body'}`, async (world) => {
        const known = [...fields, ...(keptOutAt?.(path) ?? [])];
        for (const field of known) {
          const wrong = misspelt(field, known);
          const { errors } = (await world.expect(422, method, url, bodyAt(path, { [wrong]: 1 }))).body;
          const pointer = at(pointerOf(path), wrong);
          const found = errors.filter((each) => each.pointer === pointer);
          assert.deepEqual(found, [{ pointer, detail: `unknown field (did you mean ${field}?)` }]);
        }
      });
  });

test('a misspelt field of a list and of a manifest in it are named, too', async () => {
  const ask = async (body: object) => {
    type Applied = { readonly items: readonly { readonly problem: AnswerBody }[] };
    const { items } = (await apiWorld().ask<Applied>('PUT', targetsPath, body)).body;
    return items.flatMap(({ problem }) => problem.errors.map(({ pointer, detail }) => `${pointer}: ${detail}`));
  };
  const list = { apiVersion: 'v1', kind: 'List', items: [{ metadata: { name: 'a', lables: {} }, spec: {} }] };
  assert.ok((await ask(list)).includes('/metadata/lables: unknown field (did you mean labels?)'));
  assert.ok((await ask({ ...list, metdata: {} })).includes('/metdata: unknown field (did you mean metadata?)'));
});

inRegistered('a misspelt field of a patch is named, too', async (world) => {
  const { errors } = (await world.ask('PATCH', target, { spec: { terminationGraceSeconds: 5 } })).body;
  const detail = 'unknown field (did you mean terminationGracePeriodSeconds?)';
  assert.deepEqual(errors, [{ pointer: '/spec/terminationGraceSeconds', detail }]);
});

test('a name that resembles no field of its object is unknown, whatever is known elsewhere', async () => {
  const { errors } = (await apiWorld().ask('PUT', target, { spec: { host: 'a', httpGet: {}, Host: 'b' } })).body;
  assert.deepEqual(errors.slice(0, 2), [
    { pointer: '/spec/httpGet', detail: 'unknown field' },
    { pointer: '/spec/Host', detail: 'unknown field (did you mean host?)' },
  ]);
});

test('a body of nothing but unknown fields costs no more than its length', async () => {
  const world = apiWorld();
  /** The least of a few, since what else the machine does only adds. */
  const leastMs = async (fields: number) => {
    const unknown = Object.fromEntries(Array.from({ length: fields }, (_, index) => [`livenessProb${index}`, 1]));
    const times: number[] = [];
    for (let time = 0; time < 5; time += 1) {
      const startMs = performance.now();
      const { places } = await world.ask('PUT', target, { spec: { host: 'a', ...unknown } });
      times.push(performance.now() - startMs);
      assert.equal(places.length, errorsMax);
    }
    return Math.min(...times);
  };
  const [few, many] = [await leastMs(300), await leastMs(3_000)];
  assert.ok(many < 40 * few, `${many} ms for ten times the fields of ${few} ms`);
});
