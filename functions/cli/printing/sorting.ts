/** `--sort-by`: entries in the order of what a path finds in them, as kubectl sorts (pkg/cmd/get/sorter.go). */
import { InvalidArgumentError, Option } from 'commander';
import { foundBy, relaxedTemplate, type Template } from '../jsonpath/jsonpath.ts';
import { JsonpathError } from '../jsonpath/parser.ts';
import { CliError } from '../words/exit-codes.ts';

export type SortPath = { readonly text: string; readonly template: Template };

export const sortOption = (): Option =>
  new Option('--sort-by <path>', 'in the order of what a path finds, such as .metadata.creationTimestamp').argParser(
    (text): SortPath => {
      try {
        return { text, template: relaxedTemplate(text) };
      } catch (error) {
        if (error instanceof JsonpathError) throw new InvalidArgumentError(`${error.message}.`);
        throw error;
      }
    },
  );

/** What an entry is sorted by; undefined: the path finds nothing in it. */
export const sortKeyIn = ({ template }: SortPath, value: unknown): unknown => foundBy(template, value)[0];

/** Entries that lack what the path names come first. @throws CliError if all of them do, or if it has no order */
export function sortedByKey<Entry extends { readonly key: unknown }>(
  entries: readonly Entry[],
  { text }: SortPath,
): readonly Entry[] {
  if (entries.length > 0 && entries.every(({ key }) => key === undefined))
    throw new CliError(`--sort-by: none of them has ${text}`);
  return entries.toSorted((a, b) => compared(a.key, b.key, text));
}

const missing = (key: unknown): boolean => key === undefined || key === null;

function compared(a: unknown, b: unknown, path: string): number {
  if (missing(a) || missing(b)) return Number(missing(b)) - Number(missing(a));
  const [left, right] = [comparable(a), comparable(b)];
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : Number(a > b);
  throw new CliError(`--sort-by: ${path} has no order; name one field, whose values are texts or numbers`);
}

/** Texts of numbers, such as a resourceVersion, are compared as numbers. */
const comparable = (value: unknown): unknown =>
  typeof value === 'string' && /^[-+]?\d{1,300}(\.\d{1,300})?$/.test(value) ? Number(value) : value;
