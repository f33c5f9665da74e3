/**
 * Colours that pass the gate of what is printed. A text of a server or a file could hold the same escape sequence, so
 * colours are marked by a word that none of them can know.
 */
import { randomUUID } from 'node:crypto';
import { visibleText } from '../../../shared/lib/visible-text.ts';

/** Stands for ESC. */
const word = randomUUID();

/** `colour`: of ECMA-48, such as 31 for red. */
export const coloured = (text: string, colour: number): string => `${word}[${colour}m${text}${word}[0m`;

/** What a terminal may have: nothing in it commands the terminal but the colours of `coloured`. */
export const gated = (text: string): string => visibleText(text).replaceAll(word, '\u001b');
