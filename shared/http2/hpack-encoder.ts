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
