/** Suggests a field for an unknown one: the nearest name that the schema knows in that position. */
import * as z from 'zod';
import { nearest } from '../../lib/nearest.ts';
import { ownProperty } from '../../lib/own-property.ts';

/** Keys and indices from the root of a body to an object in it. */
export type Path = readonly (string | number)[];

/** Names that a body may have in a position beside those of its schema. */
export type NamesAt = (path: Path) => readonly string[];

/** As the detail of a field problem: `unknown field (did you mean periodSeconds?)`. */
export function unknownField(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return meant === undefined ? 'unknown field' : `unknown field (did you mean ${meant}?)`;
}

/** The names of the fields of the object that the schema describes at this path; none where it describes no object. */
export function fieldsAt(schema: z.core.$ZodType, path: Path): readonly string[] {
  const [token, ...rest] = path;
  if (schema instanceof z.ZodOptional) return fieldsAt(schema.def.innerType, path);
  if (schema instanceof z.ZodUnion) return schema.def.options.flatMap((option) => fieldsAt(option, path));
  if (token === undefined) return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  if (schema instanceof z.ZodArray) return fieldsAt(schema.def.element, rest);
  const member = schema instanceof z.ZodObject ? ownProperty<z.core.$ZodType>(schema.shape, String(token)) : undefined;
  return member ? fieldsAt(member, rest) : [];
}
