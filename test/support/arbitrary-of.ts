/** Arbitrary values of a zod schema, for the constructs that this project's records use; an unknown one throws. */
import fc from 'fast-check';
import { z } from 'zod';

const elementsMax = 3;

export function arbitraryOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodObject) return objectOf(schema);
  if (schema instanceof z.ZodArray) return fc.array(arbitraryOf(schema.def.element), { maxLength: elementsMax });
  if (schema instanceof z.ZodRecord) return recordOf(schema);
  if (schema instanceof z.ZodUnion) return fc.oneof(...schema.def.options.map(arbitraryOf));
  if (schema instanceof z.ZodPipe) return arbitraryOf(schema.def.in).map((value) => schema.parse(value));
  if (schema instanceof z.ZodDefault) return arbitraryOf(schema.def.innerType);
  if (schema instanceof z.ZodNullable) return fc.option(arbitraryOf(schema.def.innerType), { nil: null });
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options);
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...schema.values);
  if (schema instanceof z.ZodNumber) return numberOf(schema);
  if (schema instanceof z.ZodString) return text;
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  throw new Error(`no arbitrary for ${schema._zod.def.type}`);
}

function objectOf(schema: z.ZodObject): fc.Arbitrary<unknown> {
  const entries = Object.entries(schema.shape);
  const values = entries.map(([name, value]) => [
    name,
    arbitraryOf(value instanceof z.ZodExactOptional ? value.def.innerType : value),
  ]);
  const requiredKeys = entries.filter(([, value]) => !(value instanceof z.ZodExactOptional)).map(([name]) => name);
  return fc.record<{ [name: string]: unknown }, string>(Object.fromEntries(values), {
    requiredKeys,
    noNullPrototype: true,
  });
}

const recordOf = (schema: z.ZodRecord): fc.Arbitrary<unknown> =>
  fc.dictionary(
    text.filter((key) => key !== '__proto__'),
    arbitraryOf(schema.def.valueType),
    {
      maxKeys: elementsMax,
      noNullPrototype: true,
    },
  );

const text = fc.string({ unit: 'grapheme' });

function numberOf(schema: z.ZodNumber): fc.Arbitrary<number> {
  const min = schema.minValue ?? Number.MIN_SAFE_INTEGER;
  const max = schema.maxValue ?? Number.MAX_SAFE_INTEGER;
  const bounds = { min: Math.max(min, Number.MIN_SAFE_INTEGER), max: Math.min(max, Number.MAX_SAFE_INTEGER) };
  if (schema.isInt) return fc.integer(bounds);
  return fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).map(withoutMinusZero);
}

/** JSON has one zero. */
const withoutMinusZero = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
