/**
 * A walk over JSON text that makes nothing of it: how deep it nests, how many values it has, and which key repeats, all
 * known before anything is parsed. It also finds where a long list can be cut.
 */

export type WalkLimits = {
  /** Of the whole text. */
  readonly valuesMax: number;
  /** Of what cannot be cut. */
  readonly pieceValuesMax: number;
  readonly depthMax: number;
};

/** The list in the object of the text that is cut. */
export type CutList = {
  readonly name: string;
  /** Behind its opening bracket. */
  readonly from: number;
  /** Where each piece begins: the first one at `from`, the others behind a comma. */
  readonly cuts: readonly number[];
  /** Before its closing bracket. */
  readonly to: number;
};

/** Of a text that is not well-formed it says anything. */
export type Walked =
  | { readonly kind: 'walked'; readonly repeated: string | undefined; readonly list: CutList | undefined }
  | { readonly kind: 'tooMuch'; readonly reason: string };

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
/** Characters of a piece of the walk, and of a list; some milliseconds at the most. */
const pieceLength = 32 * 1024;

/** Yields between pieces of the walk. */
export function* walk(text: string, { valuesMax, pieceValuesMax, depthMax }: WalkLimits): Generator<void, Walked> {
  const shape = new Shape();
  const tooMuch = (reason: string): Walked => ({ kind: 'tooMuch', reason });
  for (let at = 0, pauseAt = pieceLength; at < text.length; at += 1) {
    at = shape.take(text, at);
    if (shape.depth > depthMax) return tooMuch(`nested deeper than ${depthMax}`);
    if (shape.values > valuesMax) return tooMuch(`more than ${valuesMax} values`);
    if (shape.pieceValues > pieceValuesMax) return tooMuch(`more than ${pieceValuesMax} values in one entry`);
    if (at < pauseAt) continue;
    pauseAt = at + pieceLength;
    yield;
  }
  return { kind: 'walked', repeated: shape.repeated, list: shape.list };
}

/** What a text has of objects and lists so far. */
class Shape {
  values = 1;
  repeated: string | undefined;
  list: CutList | undefined;
  /** The keys of each object and list that is open. */
  readonly #open: Set<string>[] = [];
  #string = '';
  /** The last one of the object that is the text. */
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
      // Of short lists none is worth it.
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

/** Of a string of the text; that of a malformed one does not matter. */
function keyOf(raw: string): string {
  if (!raw.includes('\\')) return raw.slice(1, -1);
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}
