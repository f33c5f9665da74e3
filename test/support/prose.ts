/** Text of the project that is to be read as English: comments and names of TypeScript, and Markdown without code. */
import { parseSync, Visitor } from 'oxc-parser';
import { withoutFences } from './markdown.ts';

/** Blanks instead of what matches, so that lines and columns stay. */
const blanked = (text: string, pattern: RegExp): string =>
  text.replaceAll(pattern, (found) => found.replaceAll(/[^\n]/g, ' '));

/** Code, paths, and where links lead to. */
const withoutCode = (text: string): string =>
  [/`[^`\n]*`/g, /\]\([^)\n]*\)/g, /[\w./-]+\.(?:md|ts|json)\b/g].reduce(blanked, text);

/** The comments of a source, each in its place. */
export function commentsOf(path: string, source: string): string {
  const kept = blanked(source, /[\s\S]+/g).split('');
  for (const { start, end } of parseSync(path, source).comments)
    for (let at = start; at < end; at += 1) kept[at] = source[at] ?? '';
  return withoutCode(kept.join(''));
}

/** `leaveAlone` and `#giveBack` as `leave alone` and `give back`. */
const wordsOf = (name: string): string =>
  [...name.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g)].map(([word]) => word.toLowerCase()).join(' ');

/** The names in a source, in words, each on its line; strings and comments are left out. */
export function namesOf(path: string, source: string): string {
  const lines = source.split('\n').map((): string[] => []);
  const lineStarts = [...source.matchAll(/\n/g)].map(({ index }) => index + 1);
  const add = ({ name, start }: { readonly name: string; readonly start: number }) =>
    lines[lineStarts.filter((at) => at <= start).length]?.push(wordsOf(name));
  const { program } = parseSync(path, source);
  new Visitor({ Identifier: add, PrivateIdentifier: add }).visit(program);
  return lines.map((names) => names.join('; ')).join('\n');
}

export const proseOf = (markdown: string): string => withoutCode(withoutFences(markdown));

const isTableRow = (line: string): boolean => /^\s*\|/.test(line);

export const withoutTables = (markdown: string): string =>
  markdown
    .split('\n')
    .map((line) => (isTableRow(line) ? '' : line))
    .join('\n');

/** Code and links cannot be broken: a line of nothing else may have any length. */
const isUnbreakable = (line: string): boolean =>
  /^[\s\d.,;()*>+-]*$/.test(line.replaceAll(/`[^`]*`|!?\[[^\]]*\](?:\([^)]*\)|: \S+)/g, ''));

/** Lines of paragraphs and lists with more columns than that: where each is, and its length. */
export const longLines = (markdown: string, columnsMax: number): readonly string[] =>
  withoutTables(withoutFences(markdown))
    .split('\n')
    .flatMap((line, index) =>
      [...line].length > columnsMax && !isUnbreakable(line) ? [`${index + 1}: ${[...line].length} columns`] : [],
    );
