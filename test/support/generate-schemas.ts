/**
 * Writes docs/events/*.schema.json and docs/config.schema.json from the zod schemas: `node
 * test/support/generate-schemas.ts && biome check --write docs`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { eventSchemas } from '../../shared/bus/events.ts';
import { configSchema } from '../../shared/config/config-schema.ts';

const folder = new URL('../../docs/events/', import.meta.url);

export type SchemaFile = { readonly url: URL; readonly schema: object };

/** One file for each detail type: the JSON Schema of its `detail`. */
export function eventSchemaFiles(): readonly SchemaFile[] {
  return Object.entries(eventSchemas).map(([detailType, schema]) => {
    // As input: a consumer has to bear fields it does not know, since additions do not change schemaVersion.
    const { $schema, ...rest } = z.toJSONSchema(schema, {
      io: 'input',
      override: ({ jsonSchema }) => readable(jsonSchema),
    });
    return {
      url: new URL(`${detailType.toLowerCase().replaceAll(' ', '-')}.schema.json`, folder),
      schema: { $schema, title: detailType, ...rest },
    };
  });
}

/** The file of `--config`. */
export function configSchemaFile(): SchemaFile {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, {
    io: 'input',
    override: ({ jsonSchema }) => readable(jsonSchema),
  });
  const url = new URL('../../docs/config.schema.json', import.meta.url);
  return { url, schema: { $schema, title: 'Configuration of probelet', ...rest } };
}

/** What zod adds of its own says less than the format or type beside it. */
function readable(schema: { format?: string | undefined; pattern?: string; minimum?: number; maximum?: number }): void {
  if (schema.format === 'date-time') delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

if (import.meta.main) {
  mkdirSync(folder, { recursive: true });
  for (const { url, schema } of [...eventSchemaFiles(), configSchemaFile()])
    writeFileSync(url, `${JSON.stringify(schema, null, 2)}\n`);
}
