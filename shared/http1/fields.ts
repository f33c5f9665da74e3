/**
 * Reads header fields of HTTP/1 as they arrive, as leniently and as strictly as Go's net/textproto: bare LF, folded
 * fields and a space before the colon are accepted; a missing colon or a control character is not. Only the requested
 * values are kept, and each byte is examined once. Strings hold one character per byte.
 */
import { goQuote, trimAscii } from '../core/go/text.ts';

export type Fields = ReadonlyMap<string, readonly string[]>;

export type FieldsProgress =
  | 'more'
  /** The block ended with an empty line. What follows begins at `end`. */
  | { readonly kind: 'end'; readonly end: number }
  | { readonly kind: 'malformed'; readonly message: string }
  /** There is no memory for a value that has to be kept. */
  | { readonly kind: 'tooMuch' };

export type Keeping = {
  readonly kept: KeptNames;
  readonly reserve: Reserve;
};

/** The names whose values are kept, in lower case, and by its index whether one of them has this length. */
export type KeptNames = { readonly names: ReadonlySet<string>; readonly hasLength: readonly boolean[] };

export function keptNames(...names: readonly string[]): KeptNames {
  const longest = Math.max(0, ...names.map(({ length }) => length));
  const lengths = new Set(names.map(({ length }) => length));
  return { names: new Set(names), hasLength: Array.from({ length: longest + 1 }, (_, length) => lengths.has(length)) };
}

/** Returns whether `bytes` more bytes may be kept. */
export type Reserve = (bytes: number) => boolean;

/** The approximate cost of a kept line beyond its bytes. */
const lineOverheadBytes = 32;

/** A longer name is not kept. */
const nameBytesMax = 64;

const [tab, lineFeed, carriageReturn, space, colon] = [0x09, 0x0a, 0x0d, 0x20, 0x3a];

const bytesThat = (pass: (byte: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) => Number(pass(byte)));

/** Includes the space, because Go accepts one before the colon. The name of such a field is then an unknown one. */
const isNameByte = bytesThat((byte) => /[!#$%&'*+\-.^_`|~0-9A-Za-z ]/.test(String.fromCharCode(byte)));
const isValueByte = bytesThat((byte) => byte === tab || (byte >= space && byte !== 0x7f));

/** The index of the next byte to examine, or what ends the block. */
type Step = number | Exclude<FieldsProgress, 'more'>;

/** `carriageReturn` has to be followed by the end of the line, `lastCarriageReturn` by the end of the block. */
type State = 'lineStart' | 'name' | 'value' | 'carriageReturn' | 'lastCarriageReturn';

export class FieldReader {
  readonly #keeping: Keeping;
  readonly #fields = new Map<string, string[]>();
  #state: State = 'lineStart';
  #isFirstLine = true;
  /** The part of the name that has arrived, unless the name is too long to be kept. */
  #name = '';
  #nameBytes = 0;
  /** The values that the line belongs to; undefined if the field is not kept. */
  #values: string[] | undefined;
  #pieces: string[] = [];

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
  }

  /** Takes `bytes` from `from` on. */
  take(bytes: Buffer, from: number): FieldsProgress {
    for (let at = from; at < bytes.length; ) {
      const next = this.#step(bytes, at);
      if (typeof next !== 'number') return next;
      at = next;
    }
    return 'more';
  }

  /** Returns the kept values by lower-case name, in order of arrival. */
  fields(): Fields {
    return this.#fields;
  }

  #step(bytes: Buffer, at: number): Step {
    const byte = bytes[at] ?? 0;
    switch (this.#state) {
      case 'lineStart':
        return this.#beginLine(byte, at);
      case 'name':
        return this.#takeName(bytes, at);
      case 'value':
        return this.#takeValue(bytes, at);
      case 'carriageReturn':
        return byte === lineFeed ? this.#endLine(at + 1) : malformedLine;
      case 'lastCarriageReturn':
        return byte === lineFeed ? { kind: 'end', end: at + 1 } : malformedLine;
    }
  }

  #beginLine(byte: number, at: number): Step {
    const wasFirst = this.#isFirstLine;
    this.#isFirstLine = false;
    if (byte === lineFeed) return { kind: 'end', end: at + 1 };
    if (byte === carriageReturn) return this.#enter('lastCarriageReturn', at + 1);
    if (byte === space || byte === tab)
      return wasFirst ? malformed('malformed MIME header initial line') : this.#enter('value', at + 1);
    this.#name = '';
    this.#nameBytes = 0;
    return this.#enter('name', at);
  }

  #takeName(bytes: Buffer, from: number): Step {
    const end = endOf(isNameByte, bytes, from);
    if (this.#nameBytes === 0 && bytes[end] === colon && this.#isOther(end - from)) {
      this.#values = undefined;
      return this.#enter('value', end + 1);
    }
    this.#nameBytes += end - from;
    const isKept = this.#nameBytes <= nameBytesMax;
    if (isKept) this.#name += bytes.toString('latin1', from, end);
    if (end === bytes.length) return end;
    const byte = bytes[end];
    if (byte === lineFeed || byte === carriageReturn)
      return malformed(`malformed MIME header: missing colon: ${goQuote(this.#name)}`);
    if (byte !== colon || this.#nameBytes === 0) return malformedLine;
    this.#values = this.#valuesOf(isKept ? this.#name.toLowerCase() : '');
    this.#values?.push('');
    return this.#enter('value', end + 1);
  }

  /** Whether no kept name has this length. Most fields are of no interest, and their names are not even read. */
  #isOther(nameBytes: number): boolean {
    return nameBytes > 0 && this.#keeping.kept.hasLength[nameBytes] !== true;
  }

  #valuesOf(name: string): string[] | undefined {
    if (!this.#keeping.kept.names.has(name)) return undefined;
    const before = this.#fields.get(name) ?? [];
    this.#fields.set(name, before);
    return before;
  }

  #takeValue(bytes: Buffer, from: number): Step {
    const end = endOf(isValueByte, bytes, from);
    if (this.#values !== undefined && end > from) {
      if (!this.#keeping.reserve(end - from)) return tooMuch;
      this.#pieces.push(bytes.toString('latin1', from, end));
    }
    if (end === bytes.length) return end;
    const byte = bytes[end];
    if (byte === carriageReturn) return this.#enter('carriageReturn', end + 1);
    return byte === lineFeed ? this.#endLine(end + 1) : malformedLine;
  }

  /** Joins folded lines with a space. Spaces before a value do not count, so an empty first line adds none. */
  #endLine(next: number): Step {
    if (this.#values !== undefined) {
      const [piece = ''] = this.#pieces;
      const line = trimAscii(this.#pieces.length > 1 ? this.#pieces.join('') : piece);
      const before = this.#values.pop() ?? '';
      this.#values.push(before === '' ? line : `${before} ${line}`);
      this.#pieces = [];
      if (!this.#keeping.reserve(lineOverheadBytes)) return tooMuch;
    }
    return this.#enter('lineStart', next);
  }

  #enter(next: State, at: number): number {
    this.#state = next;
    return at;
  }
}

/** Returns the index of the first byte from `from` on that does not pass. */
function endOf(passes: Uint8Array, bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && passes[bytes[at] ?? 0] === 1) at += 1;
  return at;
}

const malformed = (message: string): Exclude<FieldsProgress, 'more'> => ({ kind: 'malformed', message });
const malformedLine = malformed('malformed MIME header line');
const tooMuch: Exclude<FieldsProgress, 'more'> = { kind: 'tooMuch' };
