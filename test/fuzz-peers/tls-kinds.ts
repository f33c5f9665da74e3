/** Peers that misuse TLS: records and messages in place of a handshake, endless certificates, renegotiation. */
import type { Random } from '../../shared/lib/random.ts';
import { constrainedChain, keyChain, plainChain } from './certificate-chains.ts';
import { filled, type Kind, kindsOf, noise, once, oneOf, type Piece, type Replies, type Reply } from './kind.ts';
import {
  handshake,
  helloOf12,
  helloRetry,
  inRecords,
  messageType,
  recordType,
  tlsRecord,
  uint24,
} from './tls-records.ts';

const flood =
  (unit: (random: Random) => Buffer, before: readonly Piece[] = []) =>
  (bytes: number, random: Random): Reply => ({ pieces: [...before, ...filled(unit(random), bytes)] });

const hello = once(inRecords(helloOf12));
const ofHandshake = (payload: Buffer): Buffer => tlsRecord(recordType.handshake, payload);
const payloadBytes = 16 * 1024;
const largestMessageBytes = 2 ** 24 - 1;
/** A client takes no more certificates than this. */
const certificateBytesMax = 100_000;
const retryBytesMax = 15_000;

/** A Certificate message whose entries are so many times `unit`. */
function certificates(unit: Buffer, bytes: number): Buffer {
  const entry = Buffer.concat([uint24(unit.length), unit]);
  const list = Buffer.alloc(Math.max(1, Math.floor(bytes / entry.length)) * entry.length, entry);
  return handshake(messageType.certificate, Buffer.concat([uint24(list.length), list]));
}

const belowTls: Replies = {
  'records of an odd type': flood((random) =>
    tlsRecord(oneOf(random, [0, 19, 24, 25, 99, 255]), Buffer.alloc(oneOf(random, [1, 100, payloadBytes]))),
  ),
  'records of an odd version': flood((random) =>
    tlsRecord(recordType.handshake, Buffer.alloc(4), { version: oneOf(random, [0, 0x0200, 0x0305, 0x7f1c, 0xfeff]) }),
  ),
  'empty records': flood((random) =>
    tlsRecord(oneOf(random, [recordType.handshake, recordType.alert, recordType.applicationData]), Buffer.alloc(0)),
  ),
  'requests for a hello': flood((random) =>
    ofHandshake(Buffer.alloc(4 * oneOf(random, [1, 100, 4_000]), handshake(messageType.helloRequest, Buffer.alloc(0)))),
  ),
  'requests for a hello behind a hello': flood(
    () => ofHandshake(handshake(messageType.helloRequest, Buffer.alloc(0))),
    [hello],
  ),
  'a certificate of 16 MiB': (bytes) => ({
    pieces: [
      hello,
      once(ofHandshake(handshake(messageType.certificate, Buffer.alloc(3), largestMessageBytes))),
      ...filled(ofHandshake(Buffer.alloc(payloadBytes)), bytes),
    ],
  }),
  'a hello of 16 MiB': (bytes) => ({
    pieces: [
      once(ofHandshake(handshake(messageType.serverHello, Buffer.alloc(3), largestMessageBytes))),
      ...filled(ofHandshake(Buffer.alloc(payloadBytes)), bytes),
    ],
  }),
  retries: flood(() => inRecords(helloRetry(Buffer.alloc(1_000)))),
  'changes of the cipher': flood(
    () => tlsRecord(recordType.changeCipherSpec, Buffer.from([1])),
    [once(inRecords(helloRetry(Buffer.alloc(1))))],
  ),
  'changes of the cipher before a hello': flood(() => tlsRecord(recordType.changeCipherSpec, Buffer.from([1]))),
  warnings: flood((random) => tlsRecord(recordType.alert, Buffer.from([1, oneOf(random, [0, 90, 100, 112])]))),
  'early application data': flood((random) =>
    tlsRecord(recordType.applicationData, Buffer.alloc(oneOf(random, [1, 100, payloadBytes]))),
  ),
  'a handshake of noise': (bytes, random) => ({
    pieces: [...filled(ofHandshake(noise(random, oneOf(random, [10, 1_000, payloadBytes]))), bytes)],
  }),
  'no records at all': (bytes, random) => ({ pieces: filled(noise(random, 10_000), bytes) }),
};

const certificateMessages: Replies = {
  'a hello and a large certificate, one byte a record': (bytes) => ({
    pieces: [once(inRecords(helloOf12, 1)), once(inRecords(certificates(Buffer.alloc(500, '0'), bytes), 1))],
  }),
  'many tiny certificates': (bytes, random) => ({
    pieces: [hello, once(inRecords(certificates(Buffer.from(oneOf(random, ['', '0\0', '0\x80'])), bytes)))],
  }),
  'a certificate of nested sequences': (bytes) => ({
    pieces: [hello, once(inRecords(certificates(Buffer.alloc(bytes, '\x30\x80', 'latin1'), bytes)))],
  }),
};

const retryMessages: Replies = {
  'a retry with a large cookie': (bytes) => ({ pieces: [once(inRecords(helloRetry(Buffer.alloc(bytes))))] }),
};

const ok = 'HTTP/1.1 200 OK\r\n';
const okReply = once(`${ok}Content-Length: 2\r\n\r\nok`);
const tinyRecordsMax = 256 * 1024;
/** About what a handshake of this peer takes. */
const handshakeBytes = 2_000;

const singles = (bytes: number): Piece => ({ bytes: Buffer.from('b'), times: bytes });

const aboveTls: Readonly<Record<string, Omit<Kind, 'name' | 'transport'>>> = {
  'a body of one byte a record': {
    bytesMax: tinyRecordsMax,
    reply: (bytes) => ({ pieces: [once(`${ok}Content-Length: ${bytes}\r\n\r\n`), singles(bytes)] }),
  },
  'a head of one byte a record': {
    bytesMax: tinyRecordsMax,
    reply: (bytes) => ({ pieces: [once(`${ok}X-A: `), singles(bytes), once('\r\n\r\n')] }),
  },
  renegotiations: {
    bytesMax: 256 * 1024,
    reply: (bytes) => ({
      tls: { maxVersion: 'TLSv1.2' },
      renegotiations: Math.ceil(bytes / handshakeBytes),
      pieces: [okReply],
    }),
  },
  'a chain of many certificates': {
    bytesMax: certificateBytesMax,
    reply: (bytes) => ({ tls: plainChain(bytes), pieces: [okReply] }),
  },
  'a chain of large keys': {
    bytesMax: certificateBytesMax,
    reply: (bytes) => ({ tls: keyChain(bytes), pieces: [okReply] }),
  },
  'a chain of name constraints': {
    bytesMax: certificateBytesMax,
    reply: (bytes) => ({ tls: constrainedChain(bytes), pieces: [okReply] }),
  },
};

export const tlsKinds: readonly Kind[] = [
  ...kindsOf('tls: ', belowTls, { transport: 'tls' }),
  ...kindsOf('tls: ', certificateMessages, { transport: 'tls', bytesMax: certificateBytesMax }),
  ...kindsOf('tls: ', retryMessages, { transport: 'tls', bytesMax: retryBytesMax }),
  ...Object.entries(aboveTls).map(([name, kind]): Kind => ({ name: `tls: ${name}`, transport: 'https', ...kind })),
];
