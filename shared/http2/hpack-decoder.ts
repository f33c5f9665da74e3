/**
 * HPACK decoding (RFC 7541) in a single pass, independent of how the bytes are split into pieces. An unneeded string is
 * measured and discarded, so a header block of any size takes only the memory of the dynamic table and of the requested
 * values. Limits and tolerance are those of Go's decoder.
 */
import { headerString } from './header-string.ts';
import { type Field, headerTable, knownField, tableBytesMax } from './hpack-table.ts';
import { huffmanDecode, huffmanFailed, huffmanStart, isHuffmanEnd } from './huffman.ts';

export type HpackDecoder = {
  /**
   * Decodes `bytes[from, to)` of the block. Returns the error, if any; after an error the decoder must not be used
   * again.
   */
  readonly take: (bytes: Uint8Array, from: number, to: number) => string | undefined;
  /** Ends the block; the next bytes begin a new one. Returns an error if the block ends within a field. */
  readonly endBlock: () => string | undefined;
  /**
   * Stops passing on fields of this block. Like Go, the decoder then skips strings that the dynamic table does not
   * need.
   */
  readonly ignoreRest: () => void;
};

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

export function hpackDecoder({ onField, isWanted, stringBytesMax, reserve }: HpackOptions): HpackDecoder {
  const table = headerTable();
  const nameString = headerString(reserve);
  const valueString = headerString(reserve);
  let phase: Phase = 'field';
  let isFirstField = true;
  let isIgnored = false;
  /** The integer being read. */
  let integer = 0;
  let shift = 0;
  /** The literal field being read. */
  let isIndexed = false;
  let known: Field | undefined;
  /** The string being read: its encoding, and the number of bytes still to come. */
  let isHuffman = false;
  let isSkipped = false;
  let rest = 0;
  let huffman = huffmanStart;

  const emit = (field: Field) => {
    if (!isIgnored) onField(field);
  };

  const beginField = (byte: number): string | undefined => {
    if ((byte & 0x80) !== 0) return beginInteger('index', byte, 7);
    if ((byte & 0x40) !== 0) return beginLiteral(byte, 6, true);
    if ((byte & 0x20) === 0) return beginLiteral(byte, 4, false);
    return isFirstField || table.isEmpty() ? beginInteger('tableSize', byte, 5) : 'a table size update after a field';
  };
  const beginLiteral = (byte: number, prefixBits: number, indexed: boolean): string | undefined => {
    isIndexed = indexed;
    isSkipped = isIgnored && !indexed;
    return beginInteger('nameIndex', byte, prefixBits);
  };

  const beginInteger = (of: Phase, byte: number, prefixBits: number): string | undefined => {
    const prefixMax = (1 << prefixBits) - 1;
    phase = of;
    integer = byte & prefixMax;
    shift = 0;
    return integer < prefixMax ? endInteger() : undefined;
  };
  const takeInteger = (byte: number): string | undefined => {
    integer += (byte & 0x7f) * 2 ** shift;
    if ((byte & continues) === 0) return endInteger();
    shift += 7;
    return shift >= integerBitsMax ? 'an integer that is too large' : undefined;
  };
  const endInteger = (): string | undefined => {
    switch (phase) {
      case 'index':
        return endIndexed(table.at(integer));
      case 'nameIndex':
        return endNameIndex();
      case 'tableSize':
        endField();
        return table.resize(integer) ? undefined : 'a table size update above the limit';
      default:
        return beginString();
    }
  };
  const endIndexed = (field: Field | undefined): string | undefined => {
    if (field === undefined) return 'an index beyond the tables';
    endField();
    emit(field);
    return undefined;
  };
  const endNameIndex = (): string | undefined => {
    phase = integer === 0 ? 'nameLength' : 'valueLength';
    known = integer === 0 ? undefined : table.at(integer);
    shift = -1;
    return integer === 0 || known ? undefined : 'an index beyond the tables';
  };
  const endField = () => {
    phase = 'field';
    isFirstField = false;
  };

  /** Begins a string whose length is `integer`. */
  const beginString = (): string | undefined => {
    if (integer > stringBytesMax) return 'a string that is too long';
    rest = integer;
    huffman = huffmanStart;
    if (phase === 'nameLength') {
      phase = 'name';
      nameString.begin('name', tableBytesMax);
    } else {
      phase = 'value';
      const name = known ? known.name : nameString.text();
      const forTable = isIndexed ? tableBytesMax : 0;
      valueString.begin('value', name !== undefined && isWanted(name) ? stringBytesMax : forTable);
    }
    return rest === 0 ? endString() : undefined;
  };
  const takeString = (bytes: Uint8Array, from: number, to: number): string | undefined => {
    rest -= to - from;
    const string = phase === 'name' ? nameString : valueString;
    if (isSkipped) return rest === 0 ? endString() : undefined;
    if (!isHuffman) string.takeAll(bytes, from, to);
    else huffman = huffmanDecode(huffman, { bytes, from, to }, string.take);
    if (huffman === huffmanFailed) return 'a string that is not Huffman code';
    if (string.bytes() > stringBytesMax) return 'a string that is too long';
    return rest === 0 ? endString() : undefined;
  };
  const endString = (): string | undefined => {
    if (isHuffman && !isSkipped && !isHuffmanEnd(huffman)) return 'a string that is not Huffman code';
    if (phase === 'name') {
      phase = 'valueLength';
      shift = -1;
    } else endLiteral();
    return undefined;
  };
  const endLiteral = () => {
    endField();
    if (isSkipped) return;
    const field = literal();
    if (isIndexed) table.add(field);
    emit(field);
  };
  const literal = (): Field => {
    const value = { value: valueString.text(), valueBytes: valueString.bytes(), isValueValid: valueString.isValid() };
    if (known) return { ...known, ...value };
    const isNameValid = nameString.isValid();
    return { ...knownField(nameString.text() ?? '', ''), nameBytes: nameString.bytes(), isNameValid, ...value };
  };

  /** `shift` is negative before the first byte of a length. */
  const takeLength = (byte: number): string | undefined => {
    if (shift >= 0) return takeInteger(byte);
    isHuffman = (byte & 0x80) !== 0;
    return beginInteger(phase, byte, 7);
  };

  return {
    take: (bytes, from, to) => {
      for (let at = from; at < to; ) {
        const byte = bytes[at] ?? 0;
        let fault: string | undefined;
        if (phase === 'name' || phase === 'value') {
          const end = Math.min(to, at + rest);
          fault = takeString(bytes, at, end);
          at = end;
        } else {
          at += 1;
          if (phase === 'field') fault = beginField(byte);
          else fault = phase === 'nameLength' || phase === 'valueLength' ? takeLength(byte) : takeInteger(byte);
        }
        if (fault !== undefined) return fault;
      }
      return undefined;
    },
    endBlock: () => {
      const isCut = phase !== 'field';
      isFirstField = true;
      isIgnored = false;
      return isCut ? 'a field that breaks off' : undefined;
    },
    ignoreRest: () => {
      isIgnored = true;
    },
  };
}
