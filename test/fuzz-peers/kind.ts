/** The replies of hostile peers: bytes made once and repeated, so a reply of 10 MiB costs the fuzzer almost nothing. */
import type { TlsOptions } from 'node:tls';
import type { Random } from '../../shared/lib/random.ts';

/** `bytes`, so many times in a row. */
export type Piece = { readonly bytes: Buffer; readonly times: number };

export type Reply = {
  /** Sent as soon as a client connects. */
  readonly hello?: readonly Piece[];
  /** Sent once the request has arrived; of DNS: over TCP. */
  readonly pieces: readonly Piece[];
  /** Of DNS: each one is sent so many times. */
  readonly datagrams?: readonly Piece[];
  /** Options of the TLS server, such as its certificate. */
  readonly tls?: TlsOptions;
  /** How often the server asks for a new handshake before it answers. */
  readonly renegotiations?: number;
  /** Absent: the peer then closes the connection. */
  readonly isHeld?: true;
};

/** `tls`: bytes below TLS, in place of a handshake. `dns`: the peer is asked for a name that has no target. */
export type Transport = 'http' | 'https' | 'h2' | 'grpc' | 'tls' | 'dns';

export type Kind = {
  readonly name: string;
  readonly transport: Transport;
  /** It waits for the flow-control window of its stream before it sends data. */
  readonly keepsWindow?: true;
  /** How many probes are measured together, because one is too cheap. Absent: one. */
  readonly probes?: number;
  /** Absent: 10 MiB. */
  readonly bytesMax?: number;
  /** Of about so many bytes. */
  readonly reply: (bytes: number, random: Random) => Reply;
};

/** By name. */
export type Replies = Readonly<Record<string, Kind['reply']>>;

/** A kind for each reply. `of`: what the names begin with. */
export const kindsOf = (of: string, replies: Replies, common: Omit<Kind, 'name' | 'reply'>): readonly Kind[] =>
  Object.entries(replies).map(([name, reply]) => ({ ...common, name: of + name, reply }));

export const bytesMin = 1024;
export const bytesMaxOf = ({ bytesMax = 10 * 1024 * 1024 }: Kind): number => bytesMax;

/** How a reply is cut into writes: as it comes, into random small pieces, or (for its first part) byte by byte. */
export const cuts = ['whole', 'small', 'bytes'] as const;
export type Cut = (typeof cuts)[number];

export type Exchange = {
  readonly kind: string;
  readonly bytes: number;
  readonly cut: Cut;
  readonly seed: number;
};

const blockBytes = 16 * 1024;

/** `unit` again and again, about so many bytes in all and at least once. */
export function filled(unit: string | Buffer, bytes: number): readonly Piece[] {
  const one = typeof unit === 'string' ? Buffer.from(unit, 'latin1') : unit;
  const units = Math.max(1, Math.floor(bytes / one.length));
  const inBlock = Math.min(units, Math.max(1, Math.floor(blockBytes / one.length)));
  const block = Buffer.concat(Array.from({ length: inBlock }, () => one));
  const rest = units % inBlock;
  return [
    { bytes: block, times: Math.floor(units / inBlock) },
    { bytes: block.subarray(0, rest * one.length), times: 1 },
  ];
}

export type Repeated = { readonly before?: string; readonly unit: string; readonly after?: string };

/** `unit` again and again between `before` and `after`, all of it between `begin` and `end`. */
export const between =
  (begin: string, of: (random: Random) => Repeated, end = '') =>
  (bytes: number, random: Random): Reply => {
    const { before = '', unit, after = '' } = of(random);
    return { pieces: [once(begin + before), ...filled(unit, bytes), once(after + end)] };
  };

export const noise = (random: Random, bytes: number): Buffer =>
  Buffer.from(Array.from({ length: bytes }, () => Math.floor(random.next() * 256)));

export const once = (bytes: string | Buffer): Piece => ({
  bytes: typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes,
  times: 1,
});

export const oneOf = <Value>(random: Random, values: readonly [Value, ...Value[]]): Value =>
  values[Math.floor(random.next() * values.length)] ?? values[0];

/** At most so many bytes of a reply are sent one by one: the number of pieces is what matters. */
const singleBytesMax = 4096;
const smallBytesMax = 1400;

/** How many bytes the next write takes at most. */
export function cutter(cut: Cut, random: Random): () => number {
  let singles = singleBytesMax;
  switch (cut) {
    case 'whole':
      return () => Number.POSITIVE_INFINITY;
    case 'small':
      return () => 1 + Math.floor(random.next() * smallBytesMax);
    case 'bytes':
      return () => {
        singles -= 1;
        return singles >= 0 ? 1 : Number.POSITIVE_INFINITY;
      };
  }
}

export function shuffled<Value>(values: readonly Value[], random: Random): readonly Value[] {
  return values
    .map((value) => ({ value, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}
