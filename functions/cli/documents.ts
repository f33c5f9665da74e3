/** Prints what the API answered: as YAML, as JSON, or by name, item by item, so that a long list is never held. */
import { stringify } from 'yaml';
import type { Io } from './io.ts';

export type DocumentFormat = 'yaml' | 'json' | 'name';

export type Printed = {
  readonly format: DocumentFormat;
  /** A single item is no list. */
  readonly isList: boolean;
  /** Of the list. */
  readonly kind: string;
};

export type NamedItem = { readonly name: string; readonly value: unknown };

/** Returns how many there were. */
export async function printItems(items: AsyncIterable<NamedItem>, printed: Printed, out: Io['out']): Promise<number> {
  const { format, isList, kind } = printed;
  let count = 0;
  for await (const { name, value } of items) {
    count += 1;
    if (format === 'name') out(`${name}\n`);
    else if (!isList) out(documentText(value, format));
    else if (format === 'json') out(`${count === 1 ? jsonHead(kind) : ',\n'}${indented(jsonText(value), '    ')}`);
    else out(`${count === 1 ? `apiVersion: probelet.dev/v1\nkind: ${kind}\nitems:\n` : ''}${yamlText([value])}`);
  }
  if (isList && format === 'json') out(count === 0 ? `${jsonHead(kind).trimEnd()}]\n}\n` : '\n  ]\n}\n');
  if (isList && format === 'yaml' && count === 0) out(`apiVersion: probelet.dev/v1\nkind: ${kind}\nitems: []\n`);
  return count;
}

/** One document, which ends with a line break. */
export const documentText = (value: unknown, format: 'yaml' | 'json'): string =>
  format === 'json' ? `${jsonText(value)}\n` : yamlText(value);

const jsonHead = (kind: string): string =>
  `{\n  "apiVersion": "probelet.dev/v1",\n  "kind": "${kind}",\n  "items": [\n`;
const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);
const yamlText = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

const indented = (text: string, margin: string): string =>
  text
    .split('\n')
    .map((line) => margin + line)
    .join('\n');
