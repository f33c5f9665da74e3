/** A DNS server on loopback, UDP and TCP on one port, that sends the bytes it is given, whatever the question. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** Hexadecimal bytes, and how many times they come. */
export type Piece = readonly [hex: string, times: number];

export type ScriptedDatagram = {
  readonly send: readonly Piece[];
  /** The id of the reply is that of the question, with these bits turned. */
  readonly idXor?: number;
  /** From another port than the one that was asked. */
  readonly from?: 'elsewhere';
};

export type DnsScript = {
  /** Which question is answered by the script; the other family has no data. Default: A. */
  readonly type?: 'A' | 'AAAA';
  readonly udp: readonly ScriptedDatagram[];
  /** With the two bytes of the length; absent: nothing listens. */
  readonly tcp?: readonly Piece[];
  readonly tcpIdXor?: number;
  readonly tcpBytewise?: boolean;
  /** The connection stays open. */
  readonly tcpHold?: boolean;
};

export type DnsScriptServer = {
  readonly address: string;
  /** Questions of the script's type, so far. */
  readonly asked: { udp: number; tcp: number };
  readonly close: () => Promise<void>;
};

const types = { A: 1, AAAA: 28 } as const;
const portTriesMax = 20;

export async function startDnsScript(script: DnsScript): Promise<DnsScriptServer> {
  const { udp, tcp } = await listeners(script.tcp !== undefined);
  const elsewhere = createSocket('udp4');
  const asked = { udp: 0, tcp: 0 };
  const sockets = new Set<Socket>();
  udp.on('message', (question, peer) => {
    if (typeOf(question) !== types[script.type ?? 'A'])
      return udp.send(noData(question), peer.port, peer.address, () => undefined);
    asked.udp += 1;
    for (const { send, idXor = 0, from } of script.udp) {
      const socket = from === undefined ? udp : elsewhere;
      socket.send(withId(bytesOf(send), 0, question.readUInt16BE(0) ^ idXor), peer.port, peer.address, () => undefined);
    }
  });
  tcp?.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.once('data', (question: Buffer) => {
      asked.tcp += 1;
      const bytes = withId(bytesOf(script.tcp ?? []), 2, question.readUInt16BE(2) ^ (script.tcpIdXor ?? 0));
      if (script.tcpBytewise) for (const byte of bytes) socket.write(Buffer.from([byte]));
      else socket.write(bytes);
      if (!script.tcpHold) socket.end();
    });
  });
  return {
    address: `127.0.0.1:${udp.address().port}`,
    asked,
    async close() {
      elsewhere.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all([new Promise<void>((done) => udp.close(done)), tcp && new Promise((done) => tcp.close(done))]);
    },
  };
}

/** The port has to be free for both. */
async function listeners(withTcp: boolean): Promise<{ readonly udp: UdpSocket; readonly tcp?: Server }> {
  for (let tries = 0; tries < portTriesMax; tries += 1) {
    const udp = createSocket('udp4');
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    if (!withTcp) return { udp };
    const tcp = createServer({ noDelay: true });
    const isListening = await new Promise<boolean>((resolve) => {
      tcp.once('error', () => resolve(false));
      tcp.listen(udp.address().port, '127.0.0.1', () => resolve(true));
    });
    if (isListening) return { udp, tcp };
    udp.close();
  }
  throw new Error('no port is free for UDP and TCP');
}

export const bytesOf = (pieces: readonly Piece[]): Buffer =>
  Buffer.concat(
    pieces.flatMap(([hex, times]) => Array.from({ length: times }).fill(Buffer.from(hex, 'hex')) as readonly Buffer[]),
  );

function withId(message: Buffer, at: number, id: number): Buffer {
  if (message.length >= at + 2) message.writeUInt16BE(id, at);
  return message;
}

/** Its question is the only one, and ends before the OPT record of 11 bytes that the question may carry. */
const questionEnd = (message: Buffer): number => {
  let at = 12;
  while ((message[at] ?? 0) > 0) at += (message[at] ?? 0) + 1;
  return at + 5;
};

const typeOf = (question: Buffer): number => question.readUInt16BE(questionEnd(question) - 4);

function noData(question: Buffer): Buffer {
  const reply = Buffer.from(question.subarray(0, questionEnd(question)));
  reply.writeUInt16BE(0x8180, 2);
  reply.writeUInt16BE(0, 10);
  return reply;
}
