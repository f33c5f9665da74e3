/**
 * HPACK decoding (RFC 7541) in a single pass, independent of how the bytes are split into pieces. An unneeded string is
 * measured and discarded, so a header block of any size takes only the memory of the dynamic table and of the requested
 * values. Limits and tolerance are those of Go's decoder.
 */
import { HeaderString } from './header-string.ts';
import { type Field, headerTable, knownField, tableBytesMax } from './hpack-table.ts';
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
const continues = 0x80;

type Phase = 'field' | 'index' | 'nameIndex' | 'tableSize' | 'nameLength' | 'name' | 'valueLength' | 'value';

export class HpackDecoder {
  readonly #options: HpackOptions;
  readonly #table = headerTable();
  readonly #nameString: HeaderString;
  readonly #valueString: HeaderString;
  #phase: Phase = 'field';
  #isFirstField = true;
  #isIgnored = false;
  /** The integer being read. `#shift` is negative before the first byte of a length. */
  #integer = 0;
  #shift = 0;
  /** The literal field being read. */
  #isIndexed = false;
  #known: Field | undefined;
  /** The string being read: its encoding, and the number of bytes still to come. */
  #isHuffman = false;
  #isSkipped = false;
  #rest = 0;
  #huffman = huffmanStart;

  constructor(options: HpackOptions) {
    this.#options = options;
    this.#nameString = new HeaderString(options.reserve);
    this.#valueString = new HeaderString(options.reserve);
  }

  /**
   * Decodes `bytes[from, to)` of the block. Returns the error, if any; after an error the decoder must not be used
   * again.
   */
  take(bytes: Uint8Array, from: number, to: number): string | undefined {
    for (let at = from; at < to; ) {
      let fault: string | undefined;
      if (this.#phase === 'name' || this.#phase === 'value') {
        const end = Math.min(to, at + this.#rest);
        fault = this.#takeString(bytes, at, end);
        at = end;
      } else {
        fault = this.#takeByte(bytes[at] ?? 0);
        at += 1;
      }
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /** Ends the block; the next bytes begin a new one. Returns an error if the block ends within a field. */
  endBlock(): string | undefined {
    const isCut = this.#phase !== 'field';
    this.#isFirstField = true;
    this.#isIgnored = false;
    return isCut ? 'a field that breaks off' : undefined;
  }

  /**
   * Stops passing on fields of this block. Like Go, the decoder then skips strings that the dynamic table does not
   * need.
   */
  ignoreRest(): void {
    this.#isIgnored = true;
  }

  /** Takes a byte outside of a string. */
  #takeByte(byte: number): string | undefined {
    switch (this.#phase) {
      case 'field':
        return this.#beginField(byte);
      case 'nameLength':
      case 'valueLength':
        return this.#takeLength(byte);
      default:
        return this.#takeInteger(byte);
    }
  }

  #beginField(byte: number): string | undefined {
    if ((byte & 0x80) !== 0) return this.#beginInteger('index', byte, 7);
    if ((byte & 0x40) !== 0) return this.#beginLiteral(byte, 6, true);
    if ((byte & 0x20) === 0) return this.#beginLiteral(byte, 4, false);
    const isAllowed = this.#isFirstField || this.#table.isEmpty();
    return isAllowed ? this.#beginInteger('tableSize', byte, 5) : 'a table size update after a field';
  }

  #beginLiteral(byte: number, prefixBits: number, isIndexed: boolean): string | undefined {
    this.#isIndexed = isIndexed;
    this.#isSkipped = this.#isIgnored && !isIndexed;
    return this.#beginInteger('nameIndex', byte, prefixBits);
  }

  #beginInteger(of: Phase, byte: number, prefixBits: number): string | undefined {
    const prefixMax = (1 << prefixBits) - 1;
    this.#phase = of;
    this.#integer = byte & prefixMax;
    this.#shift = 0;
    return this.#integer < prefixMax ? this.#endInteger() : undefined;
  }

  #takeInteger(byte: number): string | undefined {
    this.#integer += (byte & 0x7f) * 2 ** this.#shift;
    if ((byte & continues) === 0) return this.#endInteger();
    this.#shift += 7;
    return this.#shift >= integerBitsMax ? 'an integer that is too large' : undefined;
  }

  #endInteger(): string | undefined {
    switch (this.#phase) {
      case 'index':
        return this.#endIndexed(this.#table.at(this.#integer));
      case 'nameIndex':
        return this.#endNameIndex();
      case 'tableSize':
        this.#endField();
        return this.#table.resize(this.#integer) ? undefined : 'a table size update above the limit';
      default:
        return this.#beginString();
    }
  }

  #endIndexed(field: Field | undefined): string | undefined {
    if (field === undefined) return 'an index beyond the tables';
    this.#endField();
    this.#emit(field);
    return undefined;
  }

  #endNameIndex(): string | undefined {
    const isNamed = this.#integer === 0;
    this.#phase = isNamed ? 'nameLength' : 'valueLength';
    this.#known = isNamed ? undefined : this.#table.at(this.#integer);
    this.#shift = -1;
    return isNamed || this.#known ? undefined : 'an index beyond the tables';
  }

  #takeLength(byte: number): string | undefined {
    if (this.#shift >= 0) return this.#takeInteger(byte);
    this.#isHuffman = (byte & 0x80) !== 0;
    return this.#beginInteger(this.#phase, byte, 7);
  }

  /** Begins a string whose length is `#integer`. */
  #beginString(): string | undefined {
    const { isWanted, stringBytesMax } = this.#options;
    if (this.#integer > stringBytesMax) return 'a string that is too long';
    this.#rest = this.#integer;
    this.#huffman = huffmanStart;
    if (this.#phase === 'nameLength') {
      this.#phase = 'name';
      this.#nameString.begin('name', tableBytesMax);
    } else {
      this.#phase = 'value';
      const name = this.#known ? this.#known.name : this.#nameString.text();
      const forTable = this.#isIndexed ? tableBytesMax : 0;
      this.#valueString.begin('value', name !== undefined && isWanted(name) ? stringBytesMax : forTable);
    }
    return this.#rest === 0 ? this.#endString() : undefined;
  }

  #takeString(bytes: Uint8Array, from: number, to: number): string | undefined {
    this.#rest -= to - from;
    const string = this.#phase === 'name' ? this.#nameString : this.#valueString;
    if (this.#isSkipped) return this.#rest === 0 ? this.#endString() : undefined;
    if (!this.#isHuffman) string.takeAll(bytes, from, to);
    else this.#huffman = huffmanDecode(this.#huffman, { bytes, from, to }, string);
    if (this.#huffman === huffmanFailed) return 'a string that is not Huffman code';
    if (string.bytes() > this.#options.stringBytesMax) return 'a string that is too long';
    return this.#rest === 0 ? this.#endString() : undefined;
  }

  #endString(): string | undefined {
    if (this.#isHuffman && !this.#isSkipped && !isHuffmanEnd(this.#huffman)) return 'a string that is not Huffman code';
    if (this.#phase === 'name') {
      this.#phase = 'valueLength';
      this.#shift = -1;
    } else this.#endLiteral();
    return undefined;
  }

  #endLiteral(): void {
    this.#endField();
    if (this.#isSkipped) return;
    const field = this.#literal();
    if (this.#isIndexed) this.#table.add(field);
    this.#emit(field);
  }

  #literal(): Field {
    const [name, string] = [this.#nameString, this.#valueString];
    const value = { value: string.text(), valueBytes: string.bytes(), isValueValid: string.isValid() };
    if (this.#known) return { ...this.#known, ...value };
    return { ...knownField(name.text() ?? '', ''), nameBytes: name.bytes(), isNameValid: name.isValid(), ...value };
  }

  #endField(): void {
    this.#phase = 'field';
    this.#isFirstField = false;
  }

  #emit(field: Field): void {
    if (!this.#isIgnored) this.#options.onField(field);
  }
}
