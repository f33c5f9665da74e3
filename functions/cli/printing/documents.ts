/** Prints what the API answered: as YAML, as JSON or by name, item by item, or what paths find in it. */
import { Document, type Scalar, visit } from 'yaml';
import { isVisible } from '../../../shared/lib/visible-text.ts';
import type { Io } from '../io.ts';
import { columnsHead, columnsRow, type DocumentFormat, type Output } from './output.ts';
import { indented, joined, nothing, type Printable, printedDocument, printedLine } from './printable.ts';
import { rowsText } from './tables.ts';

export type ItemStyle = {
  readonly output: Exclude<Output, { kind: 'wide' }>;
  /** A single item is no list. */
  readonly isList: boolean;
  /** The kind of the list. */
  readonly kind: string;
  /** Whether columns have their heads. */
  readonly hasHead?: boolean;
};

export type NamedItem = { readonly name: string; readonly value: unknown };

/** Returns the number of items. An error ends the list: what has been printed stays readable. */
export async function printItems(items: AsyncIterable<NamedItem>, style: ItemStyle, out: Io['out']): Promise<number> {
  const { output, isList, kind } = style;
  if (output.kind === 'document') return printDocuments(items, layoutOf(output.format, isList, kind), out);
  const values: unknown[] = [];
  try {
    for await (const { value } of items) values.push(value);
  } finally {
    if (output.kind === 'columns' && values.length > 0) {
      const rows = values.map((value) => columnsRow(output.columns, value));
      out(rowsText(style.hasHead === false ? rows : [columnsHead(output.columns), ...rows], { isColoured: false }));
    } else if (output.kind === 'template' && isList) out(output.print(listOf(kind, values)));
    else if (output.kind === 'template' && values.length > 0) out(output.print(values[0]));
  }
  return values.length;
}

const apiVersion = 'probelet.dev/v1';

const listOf = (kind: string, items: readonly unknown[]): unknown => ({ apiVersion, kind, items });

/** One item of several that come one by one. `isFirst`: the heads of columns come before it. */
export function itemText({ name, value }: NamedItem, output: ItemStyle['output'], isFirst: boolean): Printable {
  switch (output.kind) {
    case 'document':
      if (output.format === 'name') return printedLine(name);
      return joined([output.format === 'yaml' ? documentMark : nothing, documentText(value, output.format)]);
    case 'template':
      return output.print(value);
    case 'columns': {
      const row = columnsRow(output.columns, value);
      return rowsText(isFirst ? [columnsHead(output.columns), row] : [row], { isColoured: false });
    }
  }
}

async function printDocuments(
  items: AsyncIterable<NamedItem>,
  { head, between, textOf, foot, empty }: Layout,
  out: Io['out'],
): Promise<number> {
  let count = 0;
  try {
    for await (const item of items) {
      out(joined([count === 0 ? head : between, textOf(item)]));
      count += 1;
    }
  } finally {
    if (count > 0) out(foot);
  }
  if (count === 0) out(empty);
  return count;
}

type Layout = {
  readonly head: Printable;
  readonly textOf: (item: NamedItem) => Printable;
  readonly between: Printable;
  readonly foot: Printable;
  readonly empty: Printable;
};

const bare = { head: nothing, between: nothing, foot: nothing, empty: nothing };

/** Between documents of YAML. */
export const documentMark = printedLine('---');

function layoutOf(format: DocumentFormat, isList: boolean, kind: string): Layout {
  if (format === 'name') return { ...bare, textOf: ({ name }) => printedLine(name) };
  if (!isList) return { ...bare, textOf: ({ value }) => documentText(value, format) };
  if (format === 'json') {
    const head = `{\n  "apiVersion": "${apiVersion}",\n  "kind": "${kind}",\n  "items": [`;
    return {
      head: printedDocument(`${head}\n`),
      textOf: ({ value }) => indented(jsonText(value), '    '),
      between: printedDocument(',\n'),
      foot: printedDocument('\n  ]\n}\n'),
      empty: printedDocument(`${head}]\n}\n`),
    };
  }
  const head = `apiVersion: ${apiVersion}\nkind: ${kind}\nitems:`;
  return {
    ...bare,
    head: printedDocument(`${head}\n`),
    textOf: ({ value }) => yamlText([value]),
    empty: printedDocument(`${head} []\n`),
  };
}

/** One document, which ends with a line break. */
export const documentText = (value: unknown, format: 'yaml' | 'json'): Printable =>
  format === 'json' ? joined([jsonText(value), printedLine('')]) : yamlText(value);

/** What a terminal would act on is escaped, within texts and names alike, and keeps its meaning. */
const jsonText = (value: unknown): Printable => printedDocument(JSON.stringify(value, null, 2));

/** The value of JSON as YAML. A text that needs escapes is quoted, on one line. */
export function yamlText(value: unknown): Printable {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, { Scalar: (_key, scalar) => quoteEscaped(scalar) });
  return printedDocument(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }));
}

function quoteEscaped(scalar: Scalar): void {
  const { value } = scalar;
  if (typeof value === 'string' && !isVisible(value.replaceAll('\n', ''))) scalar.type = 'QUOTE_DOUBLE';
}
