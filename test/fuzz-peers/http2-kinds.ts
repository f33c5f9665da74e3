/** Peers that misuse HTTP/2, over TLS to an HTTP probe and in the clear to a gRPC probe. */
import type { Random } from '../../shared/lib/random.ts';
import {
  answer,
  flags,
  frame,
  frameType,
  grpcHeaders,
  huffman,
  integer,
  literal,
  settingsFrame,
  stream,
  string,
  trailers,
} from './http2-frames.ts';
import { filled, type Kind, kindsOf, once, oneOf, type Piece, type Replies, type Reply } from './kind.ts';

const payloadBytesMax = 16 * 1024;

/** So many frames of this kind, then an answer that ends. */
const flood =
  (unit: (random: Random) => Buffer) =>
  (bytes: number, random: Random): Reply => ({
    pieces: [...filled(unit(random), bytes), once(answer), once(trailers)],
  });

/** Within the body of an answer. */
const floodInBody =
  (unit: (random: Random) => Buffer) =>
  (bytes: number, random: Random): Reply => ({
    pieces: [once(answer), ...filled(unit(random), bytes), once(trailers)],
  });

/** Whole fields, as many as fit into each CONTINUATION. `first` is in HEADERS. */
const manyFields =
  (fields: (random: Random) => { readonly first?: Buffer; readonly unit: Buffer }, fragmentBytes = payloadBytesMax) =>
  (bytes: number, random: Random): Reply => {
    const { first = grpcHeaders, unit } = fields(random);
    const times = Math.max(1, Math.floor(Math.min(bytes, fragmentBytes) / unit.length));
    const fragment = Buffer.concat(Array.from({ length: times }, () => unit));
    return {
      pieces: [
        once(frame(frameType.headers, first, { stream })),
        ...filled(frame(frameType.continuation, fragment, { stream }), bytes),
        once(frame(frameType.continuation, '', { flags: flags.endHeaders, stream })),
        once(trailers),
      ],
    };
  };

/** One string of about so many bytes. `coded`: of Huffman code. */
const longString =
  (field: (random: Random) => { readonly name?: string; readonly unit: Buffer; readonly coded?: boolean }) =>
  (bytes: number, random: Random): Reply => {
    const { name, unit, coded = false } = field(random);
    const length = Math.max(1, Math.floor(bytes / unit.length)) * unit.length;
    const begin = name === undefined ? [Buffer.from([0])] : [Buffer.from([0]), string(name)];
    const head = Buffer.concat([grpcHeaders, ...begin, integer(length, 7, coded ? 0x80 : 0)]);
    return {
      pieces: [
        once(frame(frameType.headers, head, { stream })),
        ...inFragments(unit, length),
        once(frame(frameType.continuation, name === undefined ? string('v') : '', { flags: flags.endHeaders, stream })),
        once(trailers),
      ],
    };
  };

function inFragments(unit: Buffer, length: number): readonly Piece[] {
  const inOne = Math.max(1, Math.floor(payloadBytesMax / unit.length)) * unit.length;
  const fragment = (size: number) => frame(frameType.continuation, Buffer.alloc(size, unit), { stream });
  return [
    { bytes: fragment(Math.min(inOne, length)), times: Math.floor(length / inOne) },
    { bytes: fragment(length % inOne), times: length % inOne > 0 ? 1 : 0 },
  ];
}

/** Codes of `0` (5 bits), `\` (19 bits), and a control character (28 bits); eight of each fill whole bytes. */
const eightOf = (code: number, bits: number): Buffer => huffman(Array.from({ length: 8 }, () => [code, bits] as const));
const huffmanUnits = [eightOf(0, 5), eightOf(0x7fff0, 19), eightOf(0xfffffe2, 28)] as const;

const wantedNames = ['location', 'content-length', 'content-type', 'grpc-message', 'grpc-status', 'a-bin'] as const;
const ping = frame(frameType.ping, '12345678');
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const kinds: Replies = {
  'SETTINGS flood': flood((random) =>
    frame(frameType.settings, oneOf(random, ['', '\0\x04\0\0\xff\xff', '\0\x01\0\0\x10\0'])),
  ),
  'long SETTINGS': flood((random) =>
    frame(frameType.settings, oneOf(random, ['\0\x04\0\0\xff\xff', '\0\x09\0\0\0\0']).repeat(2000)),
  ),
  'PING flood': flood(() => ping),
  'PING flood in the body': floodInBody(() => ping),
  'RST_STREAM flood': flood((random) =>
    frame(frameType.rstStream, number(8), { stream: oneOf(random, [3, 5, 2 ** 31 - 1]) }),
  ),
  'WINDOW_UPDATE flood': flood((random) =>
    frame(frameType.windowUpdate, number(1), { stream: oneOf(random, [0, stream, 3]) }),
  ),
  'PRIORITY flood': flood(() => frame(frameType.priority, '\0\0\0\0\x10', { stream: 3 })),
  'flood of unknown frames': flood((random) => frame(0x42, oneOf(random, ['', 'x', 'x'.repeat(5000)]), { stream })),
  'GOAWAY flood': flood(() => frame(frameType.goAway, Buffer.concat([number(2 ** 31 - 1), number(0)]))),
  'empty DATA': floodInBody(() => frame(frameType.data, '', { stream })),
  'DATA of one byte': floodInBody(() => frame(frameType.data, '\0', { stream })),
  'DATA that is padding': floodInBody((random) =>
    frame(frameType.data, `${oneOf(random, ['\x01', '\xff'])}${'\0'.repeat(255)}`, { flags: flags.padded, stream }),
  ),
  'DATA of another stream': floodInBody(() => frame(frameType.data, '\0', { stream: 2 })),
  'large DATA': floodInBody(() => frame(frameType.data, '\0'.repeat(payloadBytesMax), { stream })),
  'informational HEADERS': flood(() =>
    frame(frameType.headers, Buffer.from([0x08, 3, 0x31, 0x30, 0x33]), { flags: flags.endHeaders, stream }),
  ),
  'HEADERS of another stream': flood(() =>
    frame(frameType.headers, grpcHeaders, { flags: flags.endHeaders, stream: 3 }),
  ),
  'empty CONTINUATIONs': (bytes) => ({
    pieces: [
      once(frame(frameType.headers, grpcHeaders, { stream })),
      ...filled(frame(frameType.continuation, '', { stream }), bytes),
      once(frame(frameType.continuation, '', { flags: flags.endHeaders, stream })),
      once(trailers),
    ],
  }),
  'CONTINUATIONs of one field': manyFields((random) => ({ unit: literal('a', oneOf(random, ['', 'b'])) }), 4),
  'many fields': manyFields((random) => ({ unit: literal(oneOf(random, ['a', 'x-any', 'a'.repeat(100)]), 'v') })),
  'many wanted fields': manyFields((random) => ({ unit: literal(oneOf(random, wantedNames), 'AAAA') })),
  'fields of the table': manyFields((random) => ({
    first: Buffer.concat([
      grpcHeaders,
      literal(oneOf(random, ['x-bomb', ...wantedNames]), 'a'.repeat(oneOf(random, [0, 60, 4000])), true),
    ]),
    unit: Buffer.from([0x80 | 62]),
  })),
  'fields that turn the table over': manyFields((random) => ({
    unit: literal(oneOf(random, ['a', 'grpc-message']), oneOf(random, ['', 'b', 'b'.repeat(4000)]), true),
  })),
  'updates of the table size': (bytes) => ({
    pieces: [
      ...filled(
        frame(frameType.headers, Buffer.from([0x20, 0x3f, 0xe1, 0x1f, 0x88]), { flags: flags.endHeaders, stream: 3 }),
        bytes,
      ),
      once(answer),
      once(trailers),
    ],
  }),
  'a long value': longString((random) => ({ name: oneOf(random, ['x-a', 'a']), unit: Buffer.from('v') })),
  'a long wanted value': longString((random) => ({
    name: oneOf(random, wantedNames),
    unit: Buffer.from(oneOf(random, ['A', '%', '%41', '0', ',', ' ', '/']), 'latin1'),
  })),
  'a long name': longString(() => ({ unit: Buffer.from('n') })),
  'a long Huffman value': longString((random) => ({ name: 'x-a', unit: oneOf(random, huffmanUnits), coded: true })),
  'a long wanted Huffman value': longString((random) => ({
    name: oneOf(random, wantedNames),
    unit: oneOf(random, huffmanUnits),
    coded: true,
  })),
  'a long Huffman name': longString((random) => ({ unit: oneOf(random, huffmanUnits), coded: true })),
  'trailers of many fields': (bytes, random) => {
    const { pieces } = manyFields(() => ({ first: literal('a', 'b'), unit: literal('a', 'b') }))(bytes, random);
    return { pieces: [once(answer), ...pieces] };
  },
};

/** Each of these has ended a process with Node's own HTTP/2 client. The stream stays open afterwards. */
const holding: Replies = {
  'a forbidden field': () => ({
    pieces: [
      once(heads(Buffer.concat([grpcHeaders, literal('x-request-id', 'a'), literal('connection', 'keep-alive')]))),
    ],
    isHeld: true,
  }),
  'a second status': () => ({ pieces: [once(heads(Buffer.concat([grpcHeaders, Buffer.from([0x88])])))], isHeld: true }),
  'a block that another frame cuts': () => ({
    pieces: [once(frame(frameType.headers, grpcHeaders, { stream })), once(ping)],
    isHeld: true,
  }),
};

const heads = (block: Buffer): Buffer => frame(frameType.headers, block, { flags: flags.endHeaders, stream });

/** Over both transports, each reply after the peer's SETTINGS. */
const overBoth = (replies: Replies, common: Pick<Kind, 'bytesMax'> = {}): readonly Kind[] =>
  (['h2', 'grpc'] as const).flatMap((transport) =>
    kindsOf(`${transport}: `, replies, { ...common, transport }).map(({ reply, ...kind }) => ({
      ...kind,
      reply: (bytes, random) => ({ hello: [once(settingsFrame)], ...reply(bytes, random) }),
    })),
  );

export const http2Kinds = overBoth(kinds);

/** For the long run: they hold the stream until the probe's deadline. */
export const triggerKinds = overBoth(holding, { bytesMax: 1024 });
