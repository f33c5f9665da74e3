/** Decoding with zod: each issue becomes a field problem with its JSON Pointer and a sentence. */
import * as z from 'zod';
import { at, type FieldProblem } from '../../core/spec/field-problem.ts';
import { isAbsent, issueDetail } from '../../lib/issue-detail.ts';
import { nearest } from '../../lib/nearest.ts';
import { ownProperty } from '../../lib/own-property.ts';
import { type Checked, errorsMax, invalidFields, ok } from '../http/problem.ts';

export type Shaped<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | { readonly kind: 'invalid'; readonly problems: readonly FieldProblem[] };

/** `alsoKnown`: names beside the schema's that an unknown field may be a misspelling of. */
export function shapeOf<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  alsoKnown: NamesAt = () => [],
): Shaped<z.infer<Schema>> {
  const outcome = schema.safeParse(value);
  const unnamed = prototypeNames(value, '');
  if (outcome.success && unnamed.length === 0) return ok(outcome.data);
  const known: NamesAt = (path) => [...fieldsAt(schema, path), ...alsoKnown(path)];
  const context = { root: value, unknown: unknownFields(known) };
  const problems = outcome.error?.issues.flatMap((issue) => fieldProblems(issue, context)) ?? [];
  const named = new Set(problems.map(({ pointer }) => pointer));
  return { kind: 'invalid', problems: [...problems, ...unnamed.filter(({ pointer }) => !named.has(pointer))] };
}

type Context = {
  readonly root: unknown;
  /** The text for an unknown field of the object at the path. */
  readonly unknown: (path: Path, key: string) => string;
};

/** Suggestions end with the last problem that an answer shows, so that a body of unknown fields costs little. */
function unknownFields(known: NamesAt): Context['unknown'] {
  let hintsLeft = errorsMax;
  return (path, key) => {
    hintsLeft -= 1;
    return unknownField(key, hintsLeft < 0 ? [] : known(path));
  };
}

/**
 * zod silently drops this key where any other would be an entry. Kubernetes has no such name. The parsers bound the
 * recursion.
 */
const prototypeName = '__proto__';

function prototypeNames(value: unknown, pointer: string): readonly FieldProblem[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === prototypeName
      ? [{ pointer: at(pointer, name), detail: 'must have another name' }]
      : prototypeNames(member, at(pointer, name)),
  );
}

/** The value in the schema's shape, or a 422 that names every invalid field. */
export function decodeShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  alsoKnown?: NamesAt,
): Checked<z.infer<Schema>> {
  const shaped = shapeOf(schema, value, alsoKnown);
  return shaped.kind === 'ok' ? shaped : invalidFields(shaped.problems);
}

/** A copy without the named fields; undefined if one is an entry of a list, whose neighbours would move. */
export function withoutFields(value: unknown, problems: readonly FieldProblem[]): unknown {
  const copy: unknown = structuredClone(value);
  for (const { pointer } of problems) {
    const tokens = pointer
      .split('/')
      .slice(1)
      .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = tokens.pop();
    const parent = tokens.reduce<unknown>(
      (at, token) =>
        typeof at === 'object' && at !== null
          ? ownProperty(at as { readonly [key: string]: unknown }, token)
          : undefined,
      copy,
    );
    if (last === undefined || typeof parent !== 'object' || parent === null || Array.isArray(parent)) return undefined;
    Reflect.deleteProperty(parent, last);
  }
  return copy;
}

function fieldProblems(issue: z.core.$ZodIssue, { root, unknown }: Context): readonly FieldProblem[] {
  const path = issue.path.map((token) => (typeof token === 'symbol' ? '' : token));
  const pointer = path.reduce<string>(at, '');
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ pointer: at(pointer, key), detail: unknown(path, key) }));
    case 'invalid_union':
      return [{ pointer, detail: isAbsent(issue, root) ? 'is required' : 'must be a whole number or a string' }];
    case 'too_big':
    case 'too_small':
      return [{ pointer, detail: 'must be a whole number that is not that large' }];
    default:
      return [{ pointer, detail: issueDetail(issue, root) }];
  }
}

// Suggests a field for an unknown one: the nearest name that the schema knows in that position.

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
