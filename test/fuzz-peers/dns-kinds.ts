/** DNS servers that answer with odd, large or endless messages. A lookup always ends after half a second. */
import type { Random } from '../../shared/lib/random.ts';
import { answersAt, head, headerBytes, type MessageOptions, uint16 } from './dns-messages.ts';
import { type Kind, kindsOf, noise, once, oneOf, type Piece, type Replies, type Reply } from './kind.ts';

const messageBytesMax = 65_000;
const truncatedFlags = 0x8380;
const type = { a: 1, cname: 5, text: 16, aaaa: 28, opt: 41, unknown: 65_280 } as const;
const lifeSeconds = 60;

const pointer = (to: number): Buffer => uint16(0xc000 | to);
const toQuestion = pointer(headerBytes);
const root = Buffer.from([0]);

const record = (name: Buffer, of: number, data: Buffer): Buffer =>
  Buffer.concat([name, uint16(of, 1, 0, lifeSeconds, data.length), data]);

const address = record(toQuestion, type.a, Buffer.from([127, 0, 0, 1]));
const addressV6 = record(toQuestion, type.aaaa, Buffer.from(`${'\0'.repeat(15)}\x01`, 'latin1'));

/** `first`, then as many as there is room for; `each` gets where it will be, within the message. */
function records(bytes: number, each: (at: number) => Buffer, first: readonly Buffer[] = []): readonly Buffer[] {
  const made = [...first];
  let length = answersAt + first.reduce((sum, one) => sum + one.length, 0);
  for (let next = each(length); length + next.length <= bytes; next = each(length)) {
    made.push(next);
    length += next.length;
  }
  return made;
}

const withLength = (message: Buffer): Buffer => Buffer.concat([uint16(message.length), message]);
/** What sends a client to TCP. */
const truncated: Piece = once(head({ flags: truncatedFlags }));

/** One message over TCP. */
const overTcp = (message: Buffer): Reply => ({ datagrams: [truncated], pieces: [once(withLength(message))] });

function message(answers: readonly Buffer[], options: MessageOptions = {}): Buffer {
  return Buffer.concat([head({ answers: answers.length, ...options }), ...answers]);
}

const filledWith =
  (each: (at: number, random: Random) => Buffer, options: MessageOptions = {}) =>
  (bytes: number, random: Random): Reply =>
    overTcp(
      message(
        records(bytes, (at) => each(at, random)),
        options,
      ),
    );

const label = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
const longName = Buffer.concat([
  ...Array.from({ length: 3 }, () => label('a'.repeat(63))),
  label('a'.repeat(60)),
  root,
]);
/** Nine pointers, each to the next, and a name at the limit behind them. */
const chainAt = answersAt + toQuestion.length + 10;
const chain = record(
  toQuestion,
  type.unknown,
  Buffer.concat([...Array.from({ length: 9 }, (_, at) => pointer(chainAt + 2 * (at + 1))), longName]),
);
const far = pointer(chainAt);
const ownLabel = (at: number): Buffer => Buffer.concat([label(`l${at}`), toQuestion]);
const loopback = (at: number): Buffer => Buffer.from([127, (at >> 16) & 0xff, (at >> 8) & 0xff, at & 0xff]);

const messages: Replies = {
  addresses: filledWith((at) => record(toQuestion, type.a, loopback(at))),
  'IPv6 addresses': filledWith(() => addressV6),
  'addresses of names of their own': filledWith((at) => record(ownLabel(at), type.a, loopback(at))),
  'aliases of themselves': filledWith(() => record(toQuestion, type.cname, toQuestion)),
  'aliases, each of the next': filledWith((at) => record(ownLabel(at), type.cname, ownLabel(at + 30))),
  'names at the limit': filledWith(() => record(longName, type.cname, longName)),
  'names behind nine pointers': (bytes) =>
    overTcp(message(records(bytes, () => record(far, type.unknown, Buffer.alloc(0)), [chain]))),
  'aliases behind nine pointers': (bytes) =>
    overTcp(message(records(bytes, () => record(far, type.cname, far), [chain]))),
  'pointers to themselves': filledWith((at) => record(pointer(at & 0x3fff), type.cname, toQuestion)),
  'empty records': filledWith(() => record(root, type.unknown, Buffer.alloc(0))),
  texts: filledWith((_, random) => record(root, type.text, noise(random, 8))),
  options: (bytes) =>
    overTcp(
      message(
        records(bytes, () => record(root, type.opt, Buffer.alloc(0))),
        { answers: 0, others: 0xffff },
      ),
    ),
  'many questions': (bytes) => {
    const question = Buffer.concat([toQuestion, uint16(type.a, 1)]);
    return overTcp(message([Buffer.alloc(bytes, question)], { questions: 0xffff, answers: 0 }));
  },
  garbage: (bytes, random) => overTcp(Buffer.concat([head({ answers: 0xffff }), noise(random, bytes - answersAt)])),
  'nothing but garbage': (bytes, random) => overTcp(noise(random, bytes)),
  'a large datagram': (bytes) => ({
    datagrams: [once(message(records(bytes, () => address)))],
    pieces: [],
  }),
};

const lengthOf64k = uint16(0xffff);
/** What ends a flood, unless it is lost in it. */
const answer: Piece = once(message([address]));
/** Of IP and UDP. */
const overheadBytes = 28;
/** More would be lost before the client can read it, so that it costs nothing. */
const floodBytesMax = 512 * 1024;

/** Their cost does not end with one message, or nothing ends them but the time. */
const floods: Replies = {
  'datagrams with wrong ids': (bytes, random) => {
    const id = uint16(Math.floor(random.next() * 0x10000));
    const wrong = message(
      records(oneOf(random, [200, 1200]), () => address),
      { id },
    );
    return { datagrams: [{ bytes: wrong, times: Math.ceil(bytes / wrong.length) }, answer], pieces: [] };
  },
  'datagrams about something else': (bytes) => {
    const other = Buffer.concat([Buffer.from([0, 0, 0x81, 0x80]), uint16(1, 0, 0, 0), longName, uint16(1, 1)]);
    return { datagrams: [{ bytes: other, times: Math.ceil(bytes / other.length) }, answer], pieces: [] };
  },
  'empty datagrams': (bytes) => ({
    datagrams: [{ bytes: Buffer.alloc(0), times: Math.ceil(bytes / overheadBytes) }, answer],
    pieces: [],
  }),
  'truncated datagrams without end': (bytes) => ({
    datagrams: [{ ...truncated, times: Math.ceil(bytes / truncated.bytes.length) }],
    pieces: [],
  }),
  'bytes behind the message': (bytes) => ({
    datagrams: [truncated],
    pieces: [once(withLength(message([address]))), { bytes: Buffer.alloc(16_384), times: Math.ceil(bytes / 16_384) }],
  }),
};

const slow: Replies = {
  'byte by byte': (bytes) => {
    const whole = withLength(message(records(bytes, () => address)));
    const first = whole.subarray(0, lengthOf64k.length + answersAt);
    const singles = [...whole.subarray(first.length)].map((byte) => once(Buffer.from([byte])));
    return { datagrams: [truncated], pieces: [once(first), ...singles] };
  },
  'a connection that is held': () => ({ datagrams: [truncated], pieces: [once(lengthOf64k)], isHeld: true }),
  'a message that is never whole': (bytes) => ({
    datagrams: [truncated],
    pieces: [once(lengthOf64k), once(Buffer.concat([head(), Buffer.alloc(bytes - answersAt)]))],
    isHeld: true,
  }),
};

export const dnsKinds: readonly Kind[] = [
  ...kindsOf('dns: ', messages, { transport: 'dns', bytesMax: messageBytesMax, probes: 40 }),
  ...kindsOf('dns: ', floods, { transport: 'dns', bytesMax: floodBytesMax, probes: 4 }),
  ...kindsOf('dns: ', slow, { transport: 'dns', bytesMax: messageBytesMax, probes: 4 }),
];
