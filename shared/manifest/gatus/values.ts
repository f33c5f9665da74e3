/**
 * Values as Gatus reads them. Before it parses its file it puts in variables of the environment, whose values are not
 * known here; `$$` stands for a dollar. A boolean may have the words of YAML 1.1.
 */
import type { Path } from '../manifest.ts';
import { isMembers } from '../values.ts';

/** Go's `os.Expand`: names, and the one-character variables of a shell. */
const hasVariable = (text: string): boolean => /\$[\w{*#@!?-]/.test(text.replaceAll('$$', ''));

export type Expanded = {
  readonly value: unknown;
  /** Where the variables stand. */
  readonly variables: readonly Path[];
};

export function expanded(root: unknown): Expanded {
  const variables: Path[] = [];
  const textIn = (text: string, path: Path): string => {
    if (hasVariable(text)) variables.push(path);
    return text.replaceAll('$$', '$');
  };
  const valueIn = (value: unknown, path: Path): unknown => {
    if (typeof value === 'string') return textIn(value, path);
    if (Array.isArray(value)) return value.map((each, index) => valueIn(each, [...path, index]));
    if (!isMembers(value)) return value;
    const members = Object.entries(value).map(([key, each]) => [textIn(key, path), valueIn(each, [...path, key])]);
    return Object.fromEntries(members);
  };
  return { value: valueIn(root, []), variables };
}

const truths: ReadonlySet<unknown> = new Set([true, 'y', 'Y', 'yes', 'on']);
const falsehoods: ReadonlySet<unknown> = new Set([false, 'n', 'N', 'no', 'off']);

/** Undefined: absent, or no boolean. */
export function truthOf(value: unknown): boolean | undefined {
  if (truths.has(value)) return true;
  return falsehoods.has(value) ? false : undefined;
}

/** A number or a boolean counts as its text. */
export const plainText = (value: unknown): string | undefined =>
  ['string', 'number', 'boolean'].includes(typeof value) && value !== '' ? String(value) : undefined;
