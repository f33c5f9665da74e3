/** Prints what the API answered: as YAML, as JSON, or by name, item by item. */
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

/** Returns how many there were. An error ends the list: what has been printed can be read all the same. */
export async function printItems(items: AsyncIterable<NamedItem>, printed: Printed, out: Io['out']): Promise<number> {
  const { head, between, textOf, foot, empty } = layoutOf(printed);
  let count = 0;
  try {
    for await (const item of items) {
      out((count === 0 ? head : between) + textOf(item));
      count += 1;
    }
  } finally {
    if (count > 0) out(foot);
  }
  if (count === 0) out(empty);
  return count;
}

type Layout = {
  readonly head: string;
  readonly textOf: (item: NamedItem) => string;
  readonly between: string;
  readonly foot: string;
  readonly empty: string;
};

const bare = { head: '', between: '', foot: '', empty: '' };

function layoutOf({ format, isList, kind }: Printed): Layout {
  if (format === 'name') return { ...bare, textOf: ({ name }) => `${name}\n` };
  if (!isList) return { ...bare, textOf: ({ value }) => documentText(value, format) };
  if (format === 'json') {
    const head = `{\n  "apiVersion": "probelet.dev/v1",\n  "kind": "${kind}",\n  "items": [`;
    return {
      head: `${head}\n`,
      textOf: ({ value }) => indented(jsonText(value), '    '),
      between: ',\n',
      foot: '\n  ]\n}\n',
      empty: `${head}]\n}\n`,
    };
  }
  const head = `apiVersion: probelet.dev/v1\nkind: ${kind}\nitems:`;
  return { ...bare, head: `${head}\n`, textOf: ({ value }) => yamlText([value]), empty: `${head} []\n` };
}

/** One document, which ends with a line break. */
export const documentText = (value: unknown, format: 'yaml' | 'json'): string =>
  format === 'json' ? `${jsonText(value)}\n` : yamlText(value);

const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);
const yamlText = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

const indented = (text: string, margin: string): string =>
  text
    .split('\n')
    .map((line) => margin + line)
    .join('\n');
