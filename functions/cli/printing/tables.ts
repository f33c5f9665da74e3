/** Tables as kubectl prints them: columns as wide as their widest cell, three spaces apart. */
import { visibleLine } from '../../../shared/lib/visible-text.ts';
import type { Io } from '../io.ts';
import { coloured, type Printable, printedLines } from './printable.ts';

export type Shade = 'good' | 'bad' | 'doubt';

/** A shade is shown on a terminal only. */
export type Cell = string | { readonly text: string; readonly shade: Shade };
export type Row = readonly Cell[];

export type TableStyle = { readonly isColoured: boolean; readonly widths?: readonly number[] };

const gap = '   ';
const colours: { readonly [shade in Shade]: number } = { good: 32, bad: 31, doubt: 33 };

/** https://no-color.org: a variable that is not empty means no. */
export const isColouredFor = ({ isTerminal, env }: Pick<Io, 'isTerminal' | 'env'>): boolean =>
  isTerminal && (env.NO_COLOR ?? '') === '';

const textOf = (cell: Cell): string => visibleLine(typeof cell === 'string' ? cell : cell.text);

/** Column widths, so that rows that come later can stand below earlier ones. */
export const widthsOf = (rows: readonly Row[]): readonly number[] =>
  rows.reduce<readonly number[]>(
    (widths, row) => row.map((cell, column) => Math.max(widths[column] ?? 0, textOf(cell).length)),
    [],
  );

/** One line each. The last column has no padding. */
export function rowsText(rows: readonly Row[], { isColoured, widths = widthsOf(rows) }: TableStyle): Printable {
  const shown = (cell: Cell, width: number): string => {
    const text = textOf(cell).padEnd(width);
    return isColoured && typeof cell !== 'string' ? coloured(text, colours[cell.shade]) : text;
  };
  const lineOf = (row: Row) => row.map((cell, at) => shown(cell, at === row.length - 1 ? 0 : (widths[at] ?? 0)));
  return printedLines(rows.map((row) => lineOf(row).join(gap).trimEnd()));
}

export const tableText = (rows: readonly Row[], io: Pick<Io, 'isTerminal' | 'env'>): Printable =>
  rowsText(rows, { isColoured: isColouredFor(io) });
