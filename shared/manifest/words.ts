/** Splits a text into words, as a shell does: at blanks outside quotation marks, which are removed. */

/** Undefined: a quotation mark has no second one. There are no escapes within them. */
export function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const character of text) {
    if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === quote) quote = undefined;
    else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  return quote === undefined ? words : undefined;
}
