/** Text in columns, as kubectl prints it: three blanks between columns, none at the end of a line. */
const gap = 3;

/** @param rows as many cells each as there are headings. Returns lines, each with its end. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => (row[at] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `${cells.map((cell, at) => cell.padEnd((widths[at] ?? 0) + gap)).join('')}`.trimEnd();
  return [headings, ...rows].map((cells) => `${line(cells)}\n`).join('');
}
