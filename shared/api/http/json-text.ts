/** JSON text to a value, stricter than `JSON.parse`: a repeated key is an error, and values and nesting are bounded. */
import { type CutList, walk } from './json-walk.ts';

/** `documents`: the documents of a body; JSON is always one. */
export type ParsedDocuments =
  | { readonly kind: 'parsed'; readonly documents: readonly unknown[] }
  | { readonly kind: 'malformed'; readonly reason: string };

/** No manifest nests half as deep, and code that walks a body may recurse. */
export const depthMax = 32;
/** Values of a body of one target, which has at most 64 KiB. */
export const valuesMax = 20_000;

export function parseJson(text: string): ParsedDocuments {
  const walking = walk(text, { valuesMax, pieceValuesMax: valuesMax, depthMax });
  for (;;) {
    const { done, value: walked } = walking.next();
    if (!done) continue;
    return walked.kind === 'tooMuch' ? malformed(walked.reason) : unrepeated(parsedWhole(text), walked.repeated);
  }
}

export type LargeJson = {
  /** Of the whole text; what is no entry of a list in its object, and each entry, has at most as many as one target. */
  readonly valuesMax: number;
  /** To be awaited between pieces of the work. */
  readonly pause: () => Promise<void>;
};

/** The same for a large text, in pieces that take some milliseconds each. */
export async function parseLargeJson(text: string, { valuesMax: most, pause }: LargeJson): Promise<ParsedDocuments> {
  const walking = walk(text, { valuesMax: most, pieceValuesMax: valuesMax, depthMax });
  for (;;) {
    await pause();
    const { done, value: walked } = walking.next();
    if (!done) continue;
    if (walked.kind === 'tooMuch') return malformed(walked.reason);
    const parsed = walked.list && (await parsedInPieces(text, walked.list, pause));
    return unrepeated(parsed ?? parsedWhole(text), walked.repeated);
  }
}

const malformed = (reason: string): ParsedDocuments => ({ kind: 'malformed', reason });

const unrepeated = (parsed: ParsedDocuments, repeated: string | undefined): ParsedDocuments =>
  parsed.kind === 'parsed' && repeated !== undefined ? malformed(repeated) : parsed;

function parsedWhole(text: string): ParsedDocuments {
  try {
    return { kind: 'parsed', documents: [JSON.parse(text)] };
  } catch (error) {
    return malformed(error instanceof SyntaxError ? error.message : 'not JSON');
  }
}

/** First the text with an empty list, then its entries, some at a time. undefined: it is not well-formed. */
async function parsedInPieces(
  text: string,
  { name, from, cuts, to }: CutList,
  pause: () => Promise<void>,
): Promise<ParsedDocuments | undefined> {
  const parsed = parsedWhole(text.slice(0, from) + text.slice(to));
  if (parsed.kind === 'malformed') return undefined;
  const [value] = parsed.documents;
  // An own property even if its name is that of the prototype.
  const entries: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
  if (!Array.isArray(entries)) return undefined;
  for (const [at, begin] of cuts.entries()) {
    await pause();
    const next = cuts[at + 1];
    const piece = text.slice(begin, next === undefined ? to : next - 1);
    // Between two commas there has to be an entry.
    const read = piece.trim() === '' ? undefined : parsedWhole(`[${piece}]`);
    const [some] = read?.kind === 'parsed' ? read.documents : [];
    if (!Array.isArray(some)) return undefined;
    for (const entry of some) entries.push(entry);
  }
  return parsed;
}
