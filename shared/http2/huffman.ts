/** Huffman decoding of HPACK strings (RFC 7541, section 5.2 and appendix B), piece by piece. */

/** Code lengths of the 256 byte values and of EOS. The code is canonical, so the lengths define it. */
const codeLengths: readonly number[] = [
  ...[13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28],
  ...[28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  ...[6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6],
  ...[5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  ...[13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7],
  ...[7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  ...[15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5],
  ...[6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28],
  ...[20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23],
  ...[24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24],
  ...[22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23],
  ...[21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23],
  ...[26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25],
  ...[19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27],
  ...[20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23],
  ...[26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26],
  30,
];

const endOfString = 256;
/** Padding is a prefix of EOS (all ones) shorter than a byte. */
const paddingBitsMax = 7;

/** The initial decoder state. States are the inner nodes of the code tree; this is its root. */
export const huffmanStart = 0;
/** The state after bits that are not the prefix of any code. */
export const huffmanFailed = -1;

const nibbles = 16;
/**
 * An entry of `transitions` holds the next state and the byte that the nibble completes. There is at most one such
 * byte, because the shortest code has five bits.
 */
const emits = 1 << 8;
const failed = 1 << 9;
const stateShift = 10;

type Node = { readonly state: number; zero?: Node | Leaf; one?: Node | Leaf };
type Leaf = { readonly symbol: number };

const isLeaf = (node: Node | Leaf): node is Leaf => 'symbol' in node;

const nodes: Node[] = [];

function newNode(): Node {
  const node = { state: nodes.length };
  nodes.push(node);
  return node;
}

const root = newNode();
for (const { symbol, code, length } of canonicalCodes()) {
  let node = root;
  for (let bit = length - 1; bit > 0; bit -= 1) {
    const side = ((code >>> bit) & 1) === 1 ? 'one' : 'zero';
    const next = node[side] ?? newNode();
    if (isLeaf(next)) throw new Error('the code is not prefix-free');
    node[side] = next;
    node = next;
  }
  node[(code & 1) === 1 ? 'one' : 'zero'] = { symbol };
}

function* canonicalCodes(): Iterable<{ readonly symbol: number; readonly code: number; readonly length: number }> {
  const symbols = codeLengths
    .map((length, symbol) => ({ length, symbol }))
    .sort((one, other) => one.length - other.length || one.symbol - other.symbol);
  let code = 0;
  let before = 0;
  for (const { length, symbol } of symbols) {
    code <<= length - before;
    before = length;
    yield { symbol, code, length };
    code += 1;
  }
}

const transitions = new Uint32Array(nodes.length * nibbles);
for (const node of nodes)
  for (let nibble = 0; nibble < nibbles; nibble += 1) transitions[node.state * nibbles + nibble] = follow(node, nibble);

function follow(from: Node, nibble: number): number {
  let node = from;
  let emitted = 0;
  for (let bit = 3; bit >= 0; bit -= 1) {
    const next = ((nibble >>> bit) & 1) === 1 ? node.one : node.zero;
    if (next === undefined || (isLeaf(next) && next.symbol === endOfString)) return failed;
    if (isLeaf(next)) {
      emitted = emits | next.symbol;
      node = root;
    } else node = next;
  }
  return (node.state << stateShift) | emitted;
}

/** The states in which a string may end: the root, and those after up to seven bits of padding. */
const endings = new Set<number>();
for (let node: Node | Leaf | undefined = root, bits = 0; node && !isLeaf(node) && bits <= paddingBitsMax; bits += 1) {
  endings.add(node.state);
  node = node.one;
}

export const isHuffmanEnd = (state: number): boolean => endings.has(state);

/**
 * Decodes bytes starting in `state`, and passes each decoded byte to `taker`. Returns the next state, or
 * `huffmanFailed`.
 */
export function huffmanDecode(state: number, bytes: Uint8Array, taker: { take(byte: number): void }): number {
  let at = state;
  for (const byte of bytes) {
    const high = transitions[at * nibbles + (byte >>> 4)] ?? failed;
    if ((high & failed) !== 0) return huffmanFailed;
    if ((high & emits) !== 0) taker.take(high & 0xff);
    const low = transitions[(high >>> stateShift) * nibbles + (byte & 0xf)] ?? failed;
    if ((low & failed) !== 0) return huffmanFailed;
    if ((low & emits) !== 0) taker.take(low & 0xff);
    at = low >>> stateShift;
  }
  return at;
}
