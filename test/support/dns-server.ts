/** A DNS server on loopback UDP that answers as it is set to, and can change its mind between two questions. */
import { createSocket } from 'node:dgram';
import ipaddr from 'ipaddr.js';

export type DnsReply =
  | {
      readonly kind: 'addresses';
      readonly a?: readonly string[];
      readonly aaaa?: readonly string[];
      readonly ttl?: number;
      /** How much later the question for IPv6 is answered. */
      readonly aaaaDelayMs?: number;
    }
  | { readonly kind: 'code'; readonly code: 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' }
  | { readonly kind: 'silence' };

export type DnsServer = {
  /** As a resolver takes it: `address:port`. */
  readonly address: string;
  /** Every question so far, `name type`, in order. */
  readonly questions: readonly string[];
  readonly close: () => Promise<void>;
};

const onLoopback = { address: '127.0.0.1', port: 0 };
const codes = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 } as const;
const typeA = 1;
const typeAaaa = 28;
const headerBytes = 12;

/** `reply` is asked for each question; undefined: NXDOMAIN. */
export async function startDnsServer(
  reply: (name: string) => DnsReply | undefined,
  at: { readonly address: string; readonly port: number } = onLoopback,
): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (message, peer) => {
    const question = readQuestion(message);
    questions.push(`${question.name} ${question.type === typeAaaa ? 'AAAA' : 'A'}`);
    const answer = reply(question.name) ?? { kind: 'code', code: 'NXDOMAIN' };
    if (answer.kind === 'silence') return;
    const delayMs = answer.kind === 'addresses' && question.type === typeAaaa ? (answer.aaaaDelayMs ?? 0) : 0;
    const send = () => socket.send(writeReply(message, question, answer), peer.port, peer.address);
    if (delayMs === 0) send();
    else setTimeout(send, delayMs).unref();
  });
  await new Promise<void>((resolve) => socket.bind(at.port, at.address, resolve));
  const close = () => new Promise<void>((resolve) => socket.close(resolve));
  return { address: `${at.address}:${socket.address().port}`, questions, close };
}

type Question = { readonly name: string; readonly type: number; readonly end: number };

function readQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function writeReply(message: Buffer, question: Question, answer: Exclude<DnsReply, { kind: 'silence' }>): Buffer {
  const records = answer.kind === 'addresses' ? recordsFor(question.type, answer) : [];
  const header = Buffer.alloc(headerBytes);
  message.copy(header, 0, 0, 2);
  const responseWithRecursion = 0x8180;
  header.writeUInt16BE(responseWithRecursion | (answer.kind === 'code' ? codes[answer.code] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, message.subarray(headerBytes, question.end), ...records]);
}

function recordsFor(type: number, { a = [], aaaa = [], ttl = 0 }: Extract<DnsReply, { kind: 'addresses' }>): Buffer[] {
  const addresses = type === typeA ? a : type === typeAaaa ? aaaa : [];
  return addresses.map((address) => {
    const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
    const record = Buffer.alloc(headerBytes);
    const pointerToQuestion = 0xc000 | headerBytes;
    record.writeUInt16BE(pointerToQuestion, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(ttl, 6);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
}
