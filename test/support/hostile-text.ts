/** Texts that command a terminal, or show a reader what is not there, in every field that a schema has. */
import assert from 'node:assert/strict';
import * as z from 'zod';

/** A title, a cleared screen (C1), a reversed text, and lines that look like the program's own. */
export const hostileText =
  'x\u001b]0;owned\u0007\u009b2J\u001b[31m\u202ereversed\u2066\u200b\nFORGED LINE\r\u001b[2KFORGED\u2028FORGED\u0085\u061c\ufeff';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

/** `text`: what was printed. Colours are not expected. */
export function assertHarmless(text: string, what: string): void {
  const at = text.search(acting);
  const shown = JSON.stringify(text.slice(Math.max(0, at - 40), at + 20));
  const code = text.charCodeAt(at).toString(16).padStart(4, '0');
  assert.ok(at < 0, `${what}: U+${code} in ${shown}`);
  assert.doesNotMatch(text, /^FORGED/m, `${what}: a forged line`);
}

type Schema = {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: { readonly [name: string]: Schema };
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: { readonly [name: string]: Schema };
};

/** Schemas of JSON values refer to themselves. */
const depthMax = 12;

/** A value that has every field of the schema, each text and each free name hostile. Instants are valid. */
export function hostileValue(schema: z.ZodType): unknown {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
  return sampleOf(root, root, 0);
}

function sampleOf(schema: Schema, root: Schema, depth: number): unknown {
  if (depth > depthMax) return hostileText;
  const sample = (each: Schema) => sampleOf(each, root, depth + 1);
  if (schema.$ref) return sample(root.$defs?.[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (parts) return merged(parts.map(sample));
  switch (schema.type) {
    case 'object':
      return objectOf(schema, sample);
    case 'array':
      return [sample(schema.items ?? {})];
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : hostileText;
  }
}

/** All alternatives together, where they are objects. */
const merged = (values: readonly unknown[]): unknown =>
  values.every((each) => typeof each === 'object' && each !== null) ? Object.assign({}, ...values) : values[0];

function objectOf({ properties = {}, additionalProperties }: Schema, sample: (each: Schema) => unknown): unknown {
  const fields = Object.entries(properties).map(([name, each]) => [name, sample(each)]);
  const free = typeof additionalProperties === 'object' ? [[hostileText, sample(additionalProperties)]] : [];
  return Object.fromEntries([...fields, ...free]);
}

/** The value once for each of its texts and objects, which then is or has what is hostile, while the others stay. */
export function* eachHostile(value: unknown): Generator<unknown> {
  if (typeof value === 'string') yield hostileText;
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries())
      for (const changed of eachHostile(each)) yield value.with(index, changed);
  } else if (typeof value === 'object' && value !== null) {
    yield { ...value, [hostileText]: hostileText };
    for (const [name, each] of Object.entries(value))
      for (const changed of eachHostile(each)) yield { ...value, [name]: changed };
  }
}
