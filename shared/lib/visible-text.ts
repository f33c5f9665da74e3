/**
 * Texts of others, such as peers, servers and files, as people may see them. What a terminal or a viewer would act on
 * is written as JSON escapes it, so `\u001b` stands for ESC; within a text of JSON it keeps its meaning.
 */

/** Control characters, marks of direction, characters without width, and separators of lines. */
const acting = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u200b\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

const short: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

const hexDigits = 4;

/** All that `acting` matches has one UTF-16 unit. */
const escaped = (character: string): string =>
  short.get(character) ?? `\\u${character.charCodeAt(0).toString(16).padStart(hexDigits, '0')}`;

/** The text in one line. */
export const visibleLine = (text: string): string => text.replaceAll(acting, escaped);

/** The text with its line breaks and tabs. */
export const visibleText = (text: string): string =>
  text.replaceAll(acting, (character) => (character === '\n' || character === '\t' ? character : escaped(character)));

/** Whether nothing in the text would be escaped in one line. */
export const isVisible = (text: string): boolean => text.search(acting) < 0;

/** The text without the user and password of each URL in it. */
export const withoutUserinfo = (text: string): string => text.replaceAll(/\/\/[^\s/?#]*@/g, '//***@');

/** A shorter text may be part of any word, and is no secret. */
const secretCharactersMin = 8;

/** The text without a secret that another program has repeated. In JSON the secret has escapes. */
export function withoutSecret(text: string, secret: string): string {
  if (secret.length < secretCharactersMin) return text;
  return text.replaceAll(secret, '***').replaceAll(JSON.stringify(secret).slice(1, -1), '***');
}
