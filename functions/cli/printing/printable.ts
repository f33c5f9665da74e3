/**
 * What may go to the standard output stream. A text of a server, a file or a user gets in as part of a line, or of a
 * document whose syntax quotes or indents it. So no text of others begins a line: the compiler refuses all other texts.
 */
import { visibleLine, visibleText } from '../../../shared/lib/visible-text.ts';

declare const brand: unique symbol;

/** A text whose line breaks are the program's own, and in which nothing acts on a terminal but its colours. */
export type Printable = string & { readonly [brand]: true };

/** Part of a line. */
export const inLine = (text: string): Printable => visibleLine(text) as Printable;

/** One line with its break. */
export const printedLine = (text: string): Printable => `${visibleLine(text)}\n` as Printable;

export const printedLines = (texts: readonly string[]): Printable => joined(texts.map(printedLine));

/** One line whose cells programs tell apart by the tabs between them. */
export const tabbedLine = (cells: readonly string[]): Printable =>
  `${cells.map(visibleLine).join('\t')}\n` as Printable;

/** JSON or YAML, in which a text of others stands in quotes or is indented. */
export const printedDocument = (text: string): Printable => visibleText(text) as Printable;

/** A text that the program itself or the command line has, such as a help, a script or a template. */
export const ownText = (text: string): Printable => visibleText(text) as Printable;

export const nothing = ownText('');

export const joined = (parts: readonly Printable[], between: Printable = nothing): Printable =>
  parts.join(between) as Printable;

/** Each line behind the margin; an end without a line break stays one. */
export const indented = (text: Printable, margin: '  ' | '    '): Printable =>
  text
    .split('\n')
    .map((line) => (line === '' ? line : margin + line))
    .join('\n') as Printable;
