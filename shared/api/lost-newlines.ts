/** Tells that a YAML text was a file whose line breaks `curl -d @file` has stripped: what is left seldom parses, and may parse as less. */
import { Lexer } from 'yaml';

export const newlinesHint =
  'the body is one line, as if its line breaks were lost: curl -d @file strips them, --data-binary @file keeps them';

/** Even one line break at the end says that nothing has stripped them. */
export const isOneLine = (text: string): boolean => !/[\r\n]/.test(text);

/** Whether a text of one line that parses means less than its file did; `value` is what it parses as. */
export const hasLostFields = (text: string, value: unknown): boolean =>
  isOneLine(text) && (hasField(commentOf(text)) || typeof value === 'string' || keysOf(value).some(isJoined));

/** The comment or directive that takes up the rest of the line. */
function commentOf(text: string): string {
  for (const token of new Lexer().lex(text)) if (/^[#%]/.test(token)) return token;
  return '';
}

const hasField = (comment: string): boolean => /[\w"'}\]]:(\s|$)/.test(comment);

const keysOf = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];

/** No field of a body is named so: a document's mark or another field has run into this one. */
const isJoined = (key: string): boolean => /^---|:/.test(key);
