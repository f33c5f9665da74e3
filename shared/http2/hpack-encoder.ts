/**
 * HPACK encoding (RFC 7541) of a request on a new connection. It uses indices of the static table, and literals without
 * indexing or Huffman coding: a probe sends one header block, so entries of a dynamic table would never be reused.
 */
import { staticIndex, tableBytesMax } from './hpack-table.ts';

/** Strings hold one character per byte. Names are in lower case. */
export type SentField = readonly [name: string, value: string];

/**
 * `peerTableBytes` is the peer's SETTINGS_HEADER_TABLE_SIZE. If it is below the initial value, the block must begin
 * with a size update (RFC 7541, section 4.2). This encoder uses no dynamic table, so it announces size 0.
 */
export function encodeHeaders(fields: readonly SentField[], peerTableBytes = tableBytesMax): Buffer {
  const update = peerTableBytes < tableBytesMax ? [Buffer.of(0x20)] : [];
  return Buffer.concat([...update, ...fields.flatMap(encodeField)]);
}

function encodeField([name, value]: SentField): readonly Buffer[] {
  const known = staticIndex(name, value);
  if (known?.isWhole) return [integer(known.index, 7, 0x80)];
  if (known) return [integer(known.index, 4, 0), ...string(value)];
  return [Buffer.of(0), ...string(name), ...string(value)];
}

const string = (text: string): readonly Buffer[] => {
  const bytes = Buffer.from(text, 'latin1');
  return [integer(bytes.length, 7, 0), bytes];
};

/** Encodes an integer with a prefix of `prefixBits` bits; `pattern` holds the bits in front of the prefix. */
function integer(value: number, prefixBits: number, pattern: number): Buffer {
  const prefixMax = (1 << prefixBits) - 1;
  if (value < prefixMax) return Buffer.of(pattern | value);
  const bytes = [pattern | prefixMax];
  let rest = value - prefixMax;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.of(...bytes, rest);
}
