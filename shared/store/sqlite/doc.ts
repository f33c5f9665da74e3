/**
 * The text of an item in SQLite: its attributes as JSON, at the end the token of its last write. There it is cut off as
 * text, because an object from which it is deleted costs V8 several times as much to read.
 */
import { lastWriteAttribute } from '../operation.ts';

export type Attributes = { readonly [attribute: string]: unknown };

/** `token`: of the write that produced this state. */
export type Stored = { readonly attributes: Attributes; readonly token: string };

const tokenMark = `,"${lastWriteAttribute}":"`;
const docEnd = '"}';

/** `attributes`: without the token; `undefined` is left out at any depth. */
export function docOf(attributes: Attributes, token: string): string {
  const open = JSON.stringify(attributes).slice(0, -1);
  return `${open === '{' ? '{' : `${open},`}"${lastWriteAttribute}":${JSON.stringify(token)}}`;
}

/** Also of a text in which the token is elsewhere, as earlier releases wrote it. */
export function storedIn(doc: string): Stored {
  const markAt = doc.lastIndexOf(tokenMark);
  const token = doc.slice(markAt + tokenMark.length, -docEnd.length);
  // A quotation mark inside a text is escaped, so the mark is that of a name; `"}` after it ends the item.
  const isLast = markAt > 0 && doc.endsWith(docEnd) && !/["\\]/.test(token);
  if (isLast) return { attributes: JSON.parse(`${doc.slice(0, markAt)}}`) as Attributes, token };
  const { [lastWriteAttribute]: found, ...attributes } = JSON.parse(doc) as Attributes;
  return { attributes, token: String(found) };
}
