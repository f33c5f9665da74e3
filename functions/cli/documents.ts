/** Prints what the API answered: as YAML, as JSON or by name, item by item, or what paths find in it. */
import { Document, type Scalar, visit } from 'yaml';
import { isVisible, visibleLine, visibleText } from '../../shared/lib/visible-text.ts';
import type { Io } from './io.ts';
import { columnsHead, columnsRow, type DocumentFormat, type Output } from './output.ts';
import { rowsText } from './tables.ts';

export type Printed = {
  readonly output: Exclude<Output, { kind: 'wide' }>;
  /** A single item is no list. */
  readonly isList: boolean;
  /** Of the list. */
  readonly kind: string;
  /** Whether columns have their heads. */
  readonly hasHead?: boolean;
};

export type NamedItem = { readonly name: string; readonly value: unknown };

/** Returns how many there were. An error ends the list: what has been printed can be read all the same. */
export async function printItems(items: AsyncIterable<NamedItem>, printed: Printed, out: Io['out']): Promise<number> {
  const { output } = printed;
  if (output.kind === 'document') return printDocuments(items, { ...printed, format: output.format }, out);
  const values: unknown[] = [];
  try {
    for await (const { value } of items) values.push(value);
  } finally {
    if (output.kind === 'columns' && values.length > 0) {
      const rows = values.map((value) => columnsRow(output.columns, value));
      out(rowsText(printed.hasHead === false ? rows : [columnsHead(output.columns), ...rows], { isColoured: false }));
    } else if (output.kind === 'template' && printed.isList) out(output.print(listOf(printed.kind, values)));
    else if (output.kind === 'template' && values.length > 0) out(output.print(values[0]));
  }
  return values.length;
}

const apiVersion = 'probelet.dev/v1';

const listOf = (kind: string, items: readonly unknown[]): unknown => ({ apiVersion, kind, items });

/** One item of several that come one by one. `isFirst`: the heads of columns come before it. */
export function itemText({ name, value }: NamedItem, output: Printed['output'], isFirst: boolean): string {
  switch (output.kind) {
    case 'document':
      if (output.format === 'name') return `${visibleLine(name)}\n`;
      return `${output.format === 'yaml' ? '---\n' : ''}${documentText(value, output.format)}`;
    case 'template':
      return output.print(value);
    case 'columns': {
      const row = columnsRow(output.columns, value);
      return rowsText(isFirst ? [columnsHead(output.columns), row] : [row], { isColoured: false });
    }
  }
}

type PrintedDocuments = Pick<Printed, 'isList' | 'kind'> & { readonly format: DocumentFormat };

async function printDocuments(
  items: AsyncIterable<NamedItem>,
  printed: PrintedDocuments,
  out: Io['out'],
): Promise<number> {
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

function layoutOf({ format, isList, kind }: PrintedDocuments): Layout {
  if (format === 'name') return { ...bare, textOf: ({ name }) => `${visibleLine(name)}\n` };
  if (!isList) return { ...bare, textOf: ({ value }) => documentText(value, format) };
  if (format === 'json') {
    const head = `{\n  "apiVersion": "${apiVersion}",\n  "kind": "${kind}",\n  "items": [`;
    return {
      head: `${head}\n`,
      textOf: ({ value }) => indented(jsonText(value), '    '),
      between: ',\n',
      foot: '\n  ]\n}\n',
      empty: `${head}]\n}\n`,
    };
  }
  const head = `apiVersion: ${apiVersion}\nkind: ${kind}\nitems:`;
  return { ...bare, head: `${head}\n`, textOf: ({ value }) => yamlText([value]), empty: `${head} []\n` };
}

/** One document, which ends with a line break. */
export const documentText = (value: unknown, format: 'yaml' | 'json'): string =>
  format === 'json' ? `${jsonText(value)}\n` : yamlText(value);

/** What a terminal would act on is escaped, within texts and names alike, and keeps its meaning. */
export const jsonText = (value: unknown): string => visibleText(JSON.stringify(value, null, 2));

/** As `jsonText`. A text that needs escapes is quoted, on one line. */
export function yamlText(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, { Scalar: (_key, scalar) => quoteEscaped(scalar) });
  return visibleText(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }));
}

function quoteEscaped(scalar: Scalar): void {
  const { value } = scalar;
  if (typeof value === 'string' && !isVisible(value.replaceAll('\n', ''))) scalar.type = 'QUOTE_DOUBLE';
}

const indented = (text: string, margin: string): string =>
  text
    .split('\n')
    .map((line) => margin + line)
    .join('\n');
