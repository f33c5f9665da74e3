/** What zod finds wrong with a value, in the words of a person who wrote the file and does not know the program. */
import type * as z from 'zod';

/** `root`: the whole value that was read. The text follows the name of the field: `must be a list`. */
export function issueDetail(issue: z.core.$ZodIssue, root: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return isAbsent(issue, root) ? 'is required' : `must be ${typeNames[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return isAbsent(issue, root) ? 'is required' : `must be one of ${valuesText(issue.values)}`;
    case 'invalid_union':
      return isAbsent(issue, root) ? 'is required' : issue.message;
    case 'too_small':
      return `must ${sizeText(issue.origin, `at least ${issue.minimum}`)}`;
    case 'too_big':
      return `must ${sizeText(issue.origin, `at most ${issue.maximum}`)}`;
    default:
      return issue.message;
  }
}

const typeNames: { readonly [expected: string]: string } = {
  string: 'a string',
  int: 'a whole number',
  number: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

/** An empty text may stand for an absent field, but is not worth suggesting. */
const valuesText = (values: readonly z.core.util.Primitive[]): string =>
  values.filter((value) => value !== '').join(', ');

/** Whether there is nothing at the place of the issue. */
export function isAbsent({ path }: Pick<z.core.$ZodIssue, 'path'>, root: unknown): boolean {
  let value = root;
  for (const token of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return true;
    value = (value as { readonly [key: PropertyKey]: unknown })[token];
  }
  return value === undefined;
}

function sizeText(origin: string, size: string): string {
  if (origin === 'string') return `have ${size} characters`;
  return origin === 'array' ? `have ${size} entries` : `be ${size}`;
}
