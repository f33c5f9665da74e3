/**
 * Detects YAML whose line breaks `curl -d @file` has stripped. The rest seldom parses; if it does, fields may be
 * missing.
 */
import { Lexer } from 'yaml';

export const newlinesHint =
  'the body is one line, as if its line breaks were lost: curl -d @file strips them, --data-binary @file keeps them';

/** One line break at the end shows that line breaks were not stripped. */
export const isOneLine = (text: string): boolean => !/[\r\n]/.test(text);

/** Whether a text of one line has lost fields although it parses, namely as `value`. */
export const hasLostFields = (text: string, value: unknown): boolean =>
  isOneLine(text) && (hasField(commentOf(text)) || typeof value === 'string' || keysOf(value).some(isJoined));

/** The comment or directive that occupies the rest of the line. */
function commentOf(text: string): string {
  for (const token of new Lexer().lex(text)) if (/^[#%]/.test(token)) return token;
  return '';
}

const hasField = (comment: string): boolean => /[\w"'}\]]:(\s|$)/.test(comment);

const keysOf = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];

/** No field of a body has such a name: a document marker or another field has been joined to this one. */
const isJoined = (key: string): boolean => /^---|:/.test(key);
