/** Loads source files with changes made to their text, in this process only; everything else is loaded as it is. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const projectUrl = new URL('../../', import.meta.url);

export type Edit = {
  /** From the root of the project. */
  readonly file: string;
  /** UTF-16 offsets into the source; what lies between them is replaced. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
};

/** The text of a file, named from the root of the project. */
export const sourceOf = (file: string): string => readFileSync(new URL(file, projectUrl), 'utf8');

/** To be called before any of the files is loaded. The edits of a file must not overlap. */
export function loadEdited(edits: readonly Edit[]): void {
  const byUrl = Map.groupBy(edits, ({ file }) => new URL(file, projectUrl).href);
  registerHooks({
    load(url, context, nextLoad) {
      const own = byUrl.get(url);
      if (!own) return nextLoad(url, context);
      const source = edited(readFileSync(new URL(url), 'utf8'), own);
      return { format: 'module-typescript', source, shortCircuit: true };
    },
  });
}

/** From the end on, so that the offsets of what is left to be done stay right. */
function edited(source: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((text, { start, end, replacement }) => text.slice(0, start) + replacement + text.slice(end), source);
}
