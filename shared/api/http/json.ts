/**
 * JSON text to a value, stricter than `JSON.parse`: a repeated key is an error, and values and nesting are bounded.
 *
 * `JSON.parse` shows none of these until it has built the whole value, and for a body of 1 MiB it stops the loop, and
 * so every probe, for longer than a probe may wait. So the text is walked first, character by character and without
 * building anything: the walk counts values and depth, finds a repeated key, and remembers where the first long list of
 * the top-level object, the targets of a list, can be cut at commas. Then the text is parsed with that list left empty,
 * and its entries are parsed and appended piece by piece, with a pause before each piece. The walk does not validate:
 * for text that is not well-formed its findings mean nothing, and `JSON.parse` refuses the text afterwards.
 */

/** `documents`: the documents of a body; JSON is always one. */
export type ParsedDocuments =
  | { readonly kind: 'parsed'; readonly documents: readonly unknown[] }
  | { readonly kind: 'malformed'; readonly reason: string };

/** No manifest nests half as deep, so code that walks a body may recurse. */
export const depthMax = 32;
/** Values in the body of one target, which has at most 64 KiB. */
export const valuesMax = 20_000;

export function parseJson(text: string): ParsedDocuments {
  const walking = walk(text, valuesMax);
  for (;;) {
    const { done, value: walked } = walking.next();
    if (!done) continue;
    return walked.kind === 'tooMuch' ? malformed(walked.reason) : unrepeated(parsedWhole(text), walked.repeated);
  }
}

/**
 * The same for a large text, in pieces that take some milliseconds each.
 * @param textValuesMax values of the whole text; each entry of the cut list, and the rest, has at most `valuesMax`
 * @param pause awaited between pieces of the work
 */
export async function parseLargeJson(
  text: string,
  textValuesMax: number,
  pause: () => Promise<void>,
): Promise<ParsedDocuments> {
  const walking = walk(text, textValuesMax);
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

/** The list in the object of the text that is cut. */
type CutList = {
  readonly name: string;
  /** Behind its opening bracket. */
  readonly from: number;
  /** Where each piece begins: the first one at `from`, the others behind a comma. */
  readonly cuts: readonly number[];
  /** Before its closing bracket. */
  readonly to: number;
};

type WalkOutcome =
  | { readonly kind: 'walked'; readonly repeated: string | undefined; readonly list: CutList | undefined }
  | { readonly kind: 'tooMuch'; readonly reason: string };

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
/** Characters in one piece of the walk, and of a list; a few milliseconds at most. */
const pieceLength = 32 * 1024;

/** Yields between pieces of the walk. */
function* walk(text: string, textValuesMax: number): Generator<void, WalkOutcome> {
  const shape = new Shape();
  const tooMuch = (reason: string): WalkOutcome => ({ kind: 'tooMuch', reason });
  for (let at = 0, pauseAt = pieceLength; at < text.length; at += 1) {
    at = shape.take(text, at);
    if (shape.depth > depthMax) return tooMuch(`nested deeper than ${depthMax}`);
    if (shape.values > textValuesMax) return tooMuch(`more than ${textValuesMax} values`);
    if (shape.pieceValues > valuesMax) return tooMuch(`more than ${valuesMax} values in one entry`);
    if (at < pauseAt) continue;
    pauseAt = at + pieceLength;
    yield;
  }
  return { kind: 'walked', repeated: shape.repeated, list: shape.list };
}

/** The objects and lists of a text, as far as it has been walked. */
class Shape {
  values = 1;
  repeated: string | undefined;
  list: CutList | undefined;
  /** The keys of each object and list that is open. */
  readonly #open: Set<string>[] = [];
  #string = '';
  /** The last key of the top-level object. */
  #name = '';
  #cutList: { readonly name: string; readonly from: number; readonly cuts: number[] } | undefined;
  #valuesBefore = 0;

  get depth(): number {
    return this.#open.length;
  }

  get pieceValues(): number {
    return this.values - this.#valuesBefore;
  }

  /** Returns the position of the last character that was taken. */
  take(text: string, at: number): number {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at);
        this.#string = text.slice(at, end + 1);
        return end;
      }
      case colon:
        this.#addKey();
        return at;
      case comma:
        this.values += 1;
        if (this.depth === 2) this.#entryEnds(at);
        return at;
      case openBrace:
      case openBracket:
        this.#opens(text, at);
        return at;
      case closeBrace:
      case closeBracket:
        this.#closes(at);
    }
    return at;
  }

  #opens(text: string, at: number): void {
    this.values += 1;
    this.#open.push(new Set());
    const isList = text.charCodeAt(at) === openBracket;
    if (this.depth === 2 && isList && !this.list) this.#cutList = { name: this.#name, from: at + 1, cuts: [at + 1] };
  }

  #closes(at: number): void {
    if (this.depth === 2 && this.#cutList) {
      // A list in one piece need not be cut.
      if (this.#cutList.cuts.length > 1) this.list = { ...this.#cutList, to: at };
      this.#cutList = undefined;
      this.#valuesBefore = this.values;
    }
    this.#open.pop();
  }

  #entryEnds(at: number): void {
    if (!this.#cutList) return;
    this.#valuesBefore = this.values;
    if (at - (this.#cutList.cuts.at(-1) ?? 0) >= pieceLength) this.#cutList.cuts.push(at + 1);
  }

  /** Outside a string a colon always follows a key. */
  #addKey(): void {
    const keys = this.#open.at(-1);
    const key = keyOf(this.#string);
    if (this.depth === 1) this.#name = key;
    if (keys?.has(key)) this.repeated ??= `duplicate key ${JSON.stringify(key)}`;
    keys?.add(key);
  }
}

/** The position of the closing quote, or of the end. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === quote) return at;
    if (character === backslash) at += 1;
  }
  return text.length;
}

/** The key that a string of the text stands for; that of a malformed string does not matter. */
function keyOf(raw: string): string {
  if (!raw.includes('\\')) return raw.slice(1, -1);
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}
