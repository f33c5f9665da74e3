/** Every string that a client can send, found in the schemas of the bodies: a field that is added is found as well. */
import { z } from 'zod';

/** Keys and indices from the root of the body to a string; `*` is the key of a record itself. */
export type Path = readonly (string | number)[];

export function stringPaths(schema: z.core.$ZodType, at: Path = []): readonly Path[] {
  if (schema instanceof z.ZodOptional) return stringPaths(schema.def.innerType, at);
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, value]) => stringPaths(value, [...at, key]));
  if (schema instanceof z.ZodArray) return stringPaths(schema.def.element, [...at, 0]);
  if (schema instanceof z.ZodRecord) return [[...at, '*'], ...stringPaths(schema.def.valueType, [...at, 'key'])];
  if (schema instanceof z.ZodUnion) return schema.def.options.flatMap((option) => stringPaths(option, at));
  return schema instanceof z.ZodString ? [at] : [];
}

/** A body that has the value at the path, and of all that is around it only what has to be there. */
export function bodyWith(schema: z.core.$ZodType, [key, ...rest]: Path, value: string): unknown {
  if (schema instanceof z.ZodOptional) return bodyWith(schema.def.innerType, [key, ...rest].filter(isPart), value);
  if (key === undefined) return value;
  if (key === '*') return { [value]: 'value' };
  if (schema instanceof z.ZodArray) return [bodyWith(schema.def.element, rest, value)];
  if (schema instanceof z.ZodRecord) return { [key]: value };
  if (!(schema instanceof z.ZodObject)) throw new Error(`no path through ${schema._zod.def.type}`);
  const needed = Object.entries(schema.shape).filter(
    ([name, part]) => name === key || !(part instanceof z.ZodOptional),
  );
  const entries = needed.map(([name, part]) => [name, name === key ? bodyWith(part, rest, value) : least(part)]);
  return Object.fromEntries(entries);
}

const isPart = (part: string | number | undefined): part is string | number => part !== undefined;

function least(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodNumber) return 1;
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodUnion) return schema.def.options.map(least)[0];
  if (schema instanceof z.ZodArray) return [];
  if (schema instanceof z.ZodISODateTime) return '2026-01-01T00:00:00Z';
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries(schema.shape).flatMap(([name, part]) =>
        part instanceof z.ZodOptional ? [] : [[name, least(part)]],
      ),
    );
  return 'a';
}
