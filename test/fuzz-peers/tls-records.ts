/** Records and handshake messages below TLS (RFC 5246, RFC 8446) of a server without encryption. */
import { uint16 } from './dns-messages.ts';

export const recordType = { changeCipherSpec: 20, alert: 21, handshake: 22, applicationData: 23 } as const;
export const messageType = { helloRequest: 0, serverHello: 2, ticket: 4, certificate: 11 } as const;

export const version = { tls12: 0x0303, tls13: 0x0304 } as const;

export type RecordOptions = { readonly version?: number };

export const tlsRecord = (type: number, payload: Buffer, options: RecordOptions = {}): Buffer =>
  Buffer.concat([Buffer.from([type]), uint16(options.version ?? version.tls12, payload.length), payload]);

export const uint24 = (value: number): Buffer => Buffer.concat([Buffer.from([value >> 16]), uint16(value & 0xffff)]);

/** `claimed`: the length in its head; absent: the truth. */
export const handshake = (type: number, body: Buffer, claimed = body.length): Buffer =>
  Buffer.concat([Buffer.from([type]), uint24(claimed), body]);

const extension = (type: number, data: Buffer): Buffer => Buffer.concat([uint16(type, data.length), data]);

type Hello = { readonly suite: number; readonly random: Buffer; readonly extensions: readonly Buffer[] };

function serverHello({ suite, random, extensions }: Hello): Buffer {
  const all = Buffer.concat(extensions);
  const body = [
    uint16(version.tls12),
    random,
    Buffer.from([0]),
    uint16(suite),
    Buffer.from([0]),
    uint16(all.length),
    all,
  ];
  return handshake(messageType.serverHello, Buffer.concat(body));
}

/** ECDHE-ECDSA-AES128-GCM-SHA256, with secure renegotiation. */
export const helloOf12: Buffer = serverHello({
  suite: 0xc02b,
  random: Buffer.alloc(32, 'r'),
  extensions: [extension(0xff01, Buffer.from([0]))],
});

/** Asks for another ClientHello, with this cookie in it. */
export const helloRetry = (cookie: Buffer): Buffer =>
  serverHello({
    suite: 0x1301,
    random: Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex'),
    extensions: [extension(43, uint16(version.tls13)), extension(44, Buffer.concat([uint16(cookie.length), cookie]))],
  });

const recordBytesMax = 16 * 1024;

/** In records of so many bytes. */
export function inRecords(message: Buffer, bytes = recordBytesMax): Buffer {
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += bytes)
    records.push(tlsRecord(recordType.handshake, message.subarray(at, at + bytes)));
  return Buffer.concat(records);
}
