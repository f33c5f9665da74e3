/** What changes of a target, as a unified diff of its YAML with all defaults. */
import { structuredPatch } from 'diff';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import { yamlText } from './documents.ts';
import { coloured, nothing, type Printable, printedLines } from './printable.ts';

const contextLines = 3;
const colours: { readonly [mark: string]: number } = { '+': 32, '-': 31, '@': 36 };

/** Empty if nothing does. `before`: absent for a new target. */
export function diffText(before: TargetView | undefined, after: TargetView, isColoured: boolean): Printable {
  const { namespace, name } = after.metadata;
  const file = `target/${name} (namespace ${namespace})`;
  const texts = [before ? configured(before) : '', configured(after)] as const;
  const { hunks } = structuredPatch(file, file, ...texts, undefined, undefined, { context: contextLines });
  const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: changed }) => [
    `@@ -${startOf(oldStart, oldLines)},${oldLines} +${startOf(newStart, newLines)},${newLines} @@`,
    ...changed,
  ]);
  if (lines.length === 0) return nothing;
  const head = [`--- ${before ? file : '/dev/null'}`, `+++ ${file}`];
  return printedLines([...head, ...lines].map((line) => shown(line, isColoured)));
}

/** As diff(1) has it, a range without lines begins at the line before it. */
const startOf = (start: number, lines: number): number => (lines === 0 ? start - 1 : start);

/** The part that a client decides. */
const configured = ({ metadata: { labels, annotations }, spec }: TargetView): string =>
  yamlText({ metadata: { labels, annotations }, spec });

function shown(line: string, isColoured: boolean): string {
  const colour = isColoured ? colours[line.charAt(0)] : undefined;
  return colour === undefined ? line : coloured(line, colour);
}
