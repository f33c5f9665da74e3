/** The figures of a measurement beside their limits, as a table that people read and `npm run prove` adds up. */

export type Figure = {
  readonly name: string;
  readonly measured: string;
  readonly limit: string;
  /** Absent: reported, and not judged. */
  readonly holds?: boolean;
};

export type Judged = Required<Figure>;

export const judged = (name: string, measured: string, against: Pick<Judged, 'limit' | 'holds'>): Judged => ({
  ...{ name, measured },
  ...against,
});

export const unjudged = (name: string, measured: string): Figure => ({ name, measured, limit: '-' });

/** Holds if it has exactly this value. */
export const exactly = (name: string, measured: number, wanted: number): Figure =>
  judged(name, `${measured}`, { limit: `${wanted}`, holds: measured === wanted });

/** Holds if it is no more; an infinite measurement means that it never happened. */
export const atMost = (name: string, measured: number, { limit, unit = '' }: Bound): Figure =>
  judged(name, Number.isFinite(measured) ? withUnit(measured, unit) : 'never', {
    limit: `≤ ${withUnit(limit, unit)}`,
    holds: measured <= limit,
  });

export const atLeast = (name: string, measured: number, { limit, unit = '' }: Bound): Figure =>
  judged(name, withUnit(measured, unit), { limit: `≥ ${withUnit(limit, unit)}`, holds: measured >= limit });

type Bound = { readonly limit: number; readonly unit?: string };

const withUnit = (value: number, unit: string): string => `${rounded(value)}${unit === '' ? '' : ` ${unit}`}`;

const rounded = (value: number): string => (Number.isInteger(value) ? `${value}` : value.toFixed(1));

const headings = ['figure', 'measured', 'limit', 'holds'];
const separator = ' | ';

/** A row a figure, below a row of headings. */
export function figureLines(figures: readonly Figure[]): readonly string[] {
  const rows = [headings, ...figures.map(cells)];
  const widths = headings.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(separator)
      .trimEnd(),
  );
}

const cells = ({ name, measured, limit, holds }: Figure): readonly string[] => [
  name,
  measured,
  limit,
  holds === undefined ? '-' : holds ? 'yes' : 'NO',
];

/** The figures of the tables in an output. */
export function figuresIn(output: string): readonly Figure[] {
  return output.split('\n').flatMap((line) => {
    const [name = '', measured = '', limit = '', holds, ...more] = line.split(separator).map((cell) => cell.trim());
    if (more.length > 0 || (holds !== 'yes' && holds !== 'NO' && holds !== '-')) return [];
    return [{ name, measured, limit, ...(holds !== '-' && { holds: holds === 'yes' }) }];
  });
}

export type Score = { readonly passed: number; readonly failed: number };

export const scoreOf = (figures: readonly Figure[]): Score => ({
  passed: figures.filter(({ holds }) => holds === true).length,
  failed: figures.filter(({ holds }) => holds === false).length,
});

/** The line that ends every command that judges. */
export const scoreLine = ({ passed, failed }: Score): string => `${passed} passed, ${failed} failed`;

/** The value below which that part of ascending values lies; infinite if there are none. */
export const quantileOf = (ascending: readonly number[], part: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? Number.POSITIVE_INFINITY;
