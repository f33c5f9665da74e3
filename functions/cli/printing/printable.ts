/**
 * Texts that may go to the standard output stream. A text of a server, a file or a user gets in as part of a line, or
 * of a document whose syntax quotes or indents it, and never begins a line: the compiler refuses all other texts.
 */

import { randomUUID } from 'node:crypto';
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

// Colours that pass the gate of what is printed. A text of a server or a file could hold the same escape sequence, so
// colours are marked by a word that none of them can know.

/** Stands for ESC. */
const word = randomUUID();

/** `colour`: of ECMA-48, such as 31 for red. */
export const coloured = (text: string, colour: number): string => `${word}[${colour}m${text}${word}[0m`;

/** The text for a terminal. Only the colours of `coloured` act on the terminal. */
export const gated = (text: string): string => visibleText(text).replaceAll(word, '\u001b');
