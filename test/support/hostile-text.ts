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

/** The part of JSON Schema that the schemas of this project have. */
export type Schema = {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
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

type Sampling = {
  readonly definitions: Schema['$defs'];
  readonly depth: number;
  readonly textOf: (schema: Schema) => string;
};

/** A value that has every field of the schema, each text and each free name hostile. Instants are valid. */
export const hostileValue = (schema: z.ZodType): unknown => sampleBy(schema, () => hostileText);

/** A value that has every field of the schema, with ordinary texts. */
export const ordinaryValue = (schema: z.ZodType): unknown =>
  sampleBy(schema, ({ enum: words = [] }) => String(words[0] ?? 'a'));

function sampleBy(schema: z.ZodType, textOf: Sampling['textOf']): unknown {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
  return sampleOf(root, { definitions: root.$defs, depth: 0, textOf });
}

/** As `hostileValue`, of a schema in a document that has its definitions. */
export const hostileOf = (schema: Schema, definitions: Schema['$defs']): unknown =>
  sampleOf(schema, { definitions, depth: 0, textOf: () => hostileText });

function sampleOf(schema: Schema, { definitions, depth, textOf }: Sampling): unknown {
  if (depth > depthMax) return textOf({});
  const sample = (each: Schema) => sampleOf(each, { definitions, depth: depth + 1, textOf });
  if (schema.$ref) return sample(definitions?.[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (parts) return merged(parts.map(sample));
  switch (schema.type) {
    case 'object':
      return objectOf(schema, sample, textOf({}));
    case 'array':
      return [sample(schema.items ?? {})];
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : textOf(schema);
  }
}

/** All alternatives together, where they are objects. */
const merged = (values: readonly unknown[]): unknown =>
  values.every((each) => typeof each === 'object' && each !== null) ? Object.assign({}, ...values) : values[0];

function objectOf(
  { properties = {}, additionalProperties }: Schema,
  sample: (each: Schema) => unknown,
  freeName: string,
): unknown {
  const fields = Object.entries(properties).map(([name, each]) => [name, sample(each)]);
  const free = typeof additionalProperties === 'object' ? [[freeName, sample(additionalProperties)]] : [];
  return Object.fromEntries([...fields, ...free]);
}

/** The value once for each of its texts and objects, which then is or has what is hostile, while the others stay. */
export function* eachHostile(value: unknown, text = hostileText): Generator<unknown> {
  if (typeof value === 'string') yield text;
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries())
      for (const changed of eachHostile(each, text)) yield value.with(index, changed);
  } else if (typeof value === 'object' && value !== null) {
    yield { ...value, [text]: text };
    for (const [name, each] of Object.entries(value))
      for (const changed of eachHostile(each, text)) yield { ...value, [name]: changed };
  }
}
