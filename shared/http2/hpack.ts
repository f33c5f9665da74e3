/**
 * HPACK (RFC 7541): decodes what a server sends, and encodes a request.
 *
 * A header block may have 10 MiB (16 MiB for gRPC), and kubelet reads it. Gathered first, that would be the memory of
 * 700 hostile peers; with a limit below it, probes would fail that pass in kubelet. So a field is decoded as soon as it
 * is here, a string that several frames share is decoded as far as it has come, and one that nothing needs is measured
 * and discarded. The decoder is one loop over fields, a generator: it yields where the bytes at hand end, and resumes
 * there with the next ones. Limits and tolerance are those of Go's decoder.
 */
import { HeaderString } from './header-string.ts';
import { type Field, headerTable, staticIndex, tableBytesMax } from './hpack-table.ts';
import { huffmanDecode, huffmanFailed, huffmanStart, isHuffmanEnd } from './huffman.ts';

export type HpackOptions = {
  readonly onField: (field: Field) => void;
  /** Whether to pass on the value of a field with this name. */
  readonly isWanted: (name: string) => boolean;
  /** The longest accepted string, both encoded and decoded. */
  readonly stringBytesMax: number;
  /**
   * Returns whether memory is available for `bytes` more bytes of a wanted value. If not, the value is passed on as
   * undefined.
   */
  readonly reserve: (bytes: number) => boolean;
};

/** Go rejects an integer after this many bits. */
const integerBitsMax = 63;

const beyondTables = 'an index beyond the tables';
const notHuffman = 'a string that is not Huffman code';
const stringTooLong = 'a string that is too long';

/** What a part of the decoder comes to: a result, or a text that says what is wrong. It yields to get more bytes. */
type Decoding<Result> = Generator<undefined, Result | string>;

export class HpackDecoder {
  readonly #options: HpackOptions;
  readonly #table = headerTable();
  readonly #name: HeaderString;
  readonly #value: HeaderString;
  readonly #decoding: Generator<undefined, string>;
  /** The bytes at hand, and the next one of them. */
  #bytes: Uint8Array = nothing;
  #at = 0;
  #isWithinField = false;
  #isFirstField = true;
  #isIgnored = false;

  constructor(options: HpackOptions) {
    this.#options = options;
    this.#name = new HeaderString(options.reserve);
    this.#value = new HeaderString(options.reserve);
    this.#decoding = this.#fields();
  }

  /** Decodes the next bytes of the block. Returns the error, if any; after an error the decoder must not be used. */
  take(bytes: Uint8Array): string | undefined {
    this.#bytes = bytes;
    this.#at = 0;
    const { value } = this.#decoding.next();
    this.#bytes = nothing;
    return value;
  }

  /** Ends the block; the next bytes begin a new one. Returns an error if the block ends within a field. */
  endBlock(): string | undefined {
    this.#isFirstField = true;
    this.#isIgnored = false;
    return this.#isWithinField ? 'a field that breaks off' : undefined;
  }

  /**
   * Stops passing on fields of this block. Like Go, the decoder then skips strings that the dynamic table does not
   * need.
   */
  ignoreRest(): void {
    this.#isIgnored = true;
  }

  *#fields(): Generator<undefined, string> {
    for (;;) {
      this.#isWithinField = false;
      while (this.#at === this.#bytes.length) yield;
      this.#isWithinField = true;
      const byte = this.#bytes[this.#at++] ?? 0;
      let problem: string | undefined;
      if ((byte & 0x80) !== 0) problem = yield* this.#indexed(byte);
      else if ((byte & 0x60) === 0x20) problem = yield* this.#tableSize(byte);
      else problem = yield* this.#literal(byte, (byte & 0x40) !== 0);
      if (problem !== undefined) return problem;
      this.#isFirstField = false;
    }
  }

  *#indexed(byte: number): Decoding<undefined> {
    const index = isShort(byte, 0x7f) ? byte & 0x7f : yield* this.#longInteger(0x7f);
    if (typeof index === 'string') return index;
    const field = this.#table.at(index);
    if (field === undefined) return beyondTables;
    this.#emit(field);
    return undefined;
  }

  *#tableSize(byte: number): Decoding<undefined> {
    if (!this.#isFirstField && !this.#table.isEmpty()) return 'a table size update after a field';
    const size = isShort(byte, 0x1f) ? byte & 0x1f : yield* this.#longInteger(0x1f);
    if (typeof size === 'string') return size;
    return this.#table.resize(size) ? undefined : 'a table size update above the limit';
  }

  *#literal(byte: number, isIndexed: boolean): Decoding<undefined> {
    const isSkipped = this.#isIgnored && !isIndexed;
    const prefixMax = isIndexed ? 0x3f : 0x0f;
    const index = isShort(byte, prefixMax) ? byte & prefixMax : yield* this.#longInteger(prefixMax);
    if (typeof index === 'string') return index;
    const known = index === 0 ? undefined : this.#table.at(index);
    if (index !== 0 && known === undefined) return beyondTables;
    const [name, value] = [this.#name, this.#value];
    if (known === undefined) {
      name.begin('name', tableBytesMax);
      const problem = yield* this.#string(name, isSkipped);
      if (problem !== undefined) return problem;
    }
    const knownName = known ? known.name : name.text();
    value.begin('value', this.#keptBytesMax(knownName, isIndexed));
    const problem = yield* this.#string(value, isSkipped);
    if (problem !== undefined || isSkipped) return problem;
    const field: Field = {
      name: knownName ?? '',
      value: value.text(),
      nameBytes: known ? known.nameBytes : name.bytes(),
      valueBytes: value.bytes(),
      isNameValid: known ? known.isNameValid : name.isValid(),
      isValueValid: value.isValid(),
    };
    if (isIndexed) this.#table.add(field);
    this.#emit(field);
    return undefined;
  }

  /** How many bytes of a value are kept: those that are wanted, or that the table may need. */
  #keptBytesMax(name: string | undefined, isIndexed: boolean): number {
    if (name !== undefined && this.#options.isWanted(name)) return this.#options.stringBytesMax;
    return isIndexed ? tableBytesMax : 0;
  }

  *#string(string: HeaderString, isSkipped: boolean): Decoding<undefined> {
    while (this.#at === this.#bytes.length) yield;
    const byte = this.#bytes[this.#at++] ?? 0;
    const isHuffman = (byte & 0x80) !== 0;
    const length = isShort(byte, 0x7f) ? byte & 0x7f : yield* this.#longInteger(0x7f);
    if (typeof length === 'string') return length;
    const { stringBytesMax } = this.#options;
    if (length > stringBytesMax) return stringTooLong;
    let huffman = huffmanStart;
    for (let rest = length; rest > 0; ) {
      while (this.#at === this.#bytes.length) yield;
      const part = this.#bytes.subarray(this.#at, this.#at + rest);
      this.#at += part.length;
      rest -= part.length;
      if (isSkipped) continue;
      if (isHuffman) huffman = huffmanDecode(huffman, part, string);
      else string.takeAll(part);
      if (huffman === huffmanFailed) return notHuffman;
      if (string.bytes() > stringBytesMax) return stringTooLong;
    }
    return isHuffman && !isSkipped && !isHuffmanEnd(huffman) ? notHuffman : undefined;
  }

  /** An integer beyond what its first byte can hold. */
  *#longInteger(prefixMax: number): Decoding<number> {
    let integer = prefixMax;
    for (let shift = 0; shift < integerBitsMax; shift += 7) {
      while (this.#at === this.#bytes.length) yield;
      const next = this.#bytes[this.#at++] ?? 0;
      integer += (next & 0x7f) * 2 ** shift;
      if (next < 0x80) return integer;
    }
    return 'an integer that is too large';
  }

  #emit(field: Field): void {
    if (!this.#isIgnored) this.#options.onField(field);
  }
}

/** Whether an integer ends in its first byte, of which it has the last bits; `prefixMax`: these bits. */
const isShort = (byte: number, prefixMax: number): boolean => (byte & prefixMax) < prefixMax;

const nothing = new Uint8Array(0);

/** Strings hold one character per byte. Names are in lower case. */
export type SentField = readonly [name: string, value: string];

/**
 * Encodes a request on a new connection. It uses indices of the static table, and literals without indexing or Huffman
 * coding: a probe sends one header block, so entries of a dynamic table would never be reused.
 *
 * `peerTableBytes` is the peer's SETTINGS_HEADER_TABLE_SIZE. If it is below the initial value, the block must begin
 * with a size update (RFC 7541, section 4.2). This encoder uses no dynamic table, so it announces size 0.
 */
export function encodeHeaders(fields: readonly SentField[], peerTableBytes = tableBytesMax): Buffer {
  let block = peerTableBytes < tableBytesMax ? '\x20' : '';
  for (const [name, value] of fields) block += encodeField(name, value);
  return Buffer.from(block, 'latin1');
}

/** Bytes as a string, one character each, as below: to join strings costs less than to join many small buffers. */
function encodeField(name: string, value: string): string {
  const known = staticIndex(name, value);
  if (known === undefined) return `\0${string(name)}${string(value)}`;
  return known.isWhole ? integer(known.index, 7, 0x80) : integer(known.index, 4, 0) + string(value);
}

const string = (text: string): string => integer(text.length, 7, 0) + text;

/** Encodes an integer with a prefix of `prefixBits` bits; `pattern` holds the bits in front of the prefix. */
function integer(value: number, prefixBits: number, pattern: number): string {
  const prefixMax = (1 << prefixBits) - 1;
  if (value < prefixMax) return String.fromCharCode(pattern | value);
  let bytes = String.fromCharCode(pattern | prefixMax);
  let rest = value - prefixMax;
  for (; rest > 0x7f; rest >>>= 7) bytes += String.fromCharCode((rest & 0x7f) | 0x80);
  return bytes + String.fromCharCode(rest);
}
