/**
 * What a client holds of a peer that sends much and says little: of what arrived only what is wanted, not the buffers
 * in which it arrived, nor an object for each frame.
 */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { peerSocket } from '../../shared/net/reading.ts';
import { startDeadline } from '../../shared/prober/deadline.ts';
import { openSession } from '../../shared/prober/grpc/call.ts';
import { exchangeHttp1 } from '../../shared/prober/http/http1-exchange.ts';
import { exchangeHttp2 } from '../../shared/prober/http/http2-exchange.ts';
import { firstHop } from '../../shared/prober/http/redirect.ts';
import { httpUrl } from '../../shared/prober/http/url.ts';
import { flags, frame, frameType, grpcHeaders, settingsFrame } from '../fuzz-peers/http2-frames.ts';
import { listenWith } from '../support/tcp-server.ts';
import { turnOfTheLoop } from '../support/virtual-clock.ts';

const connections = 32;
/** What Node reads at once. */
const readBytes = 64 * 1024;
const host = '127.0.0.1';
const triesMax = 100;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const times = (count: number, bytes: Buffer): Buffer => Buffer.concat(Array.from({ length: count }, () => bytes));

/** PRIORITY of another stream, which means nothing. */
const filler = times(Math.floor((readBytes - 500) / 14), frame(frameType.priority, Buffer.alloc(5), { stream: 3 }));
const headers = frame(frameType.headers, grpcHeaders, { flags: flags.endHeaders, stream: 1 });
const data = (payload: Buffer) => frame(frameType.data, payload, { stream: 1 });
const emptyData = times(readBytes / 9, data(Buffer.alloc(0)));
/** Of a frame of the largest size the head and the first byte. */
const begunData = data(Buffer.alloc(16 * 1024)).subarray(0, 10);
const begunAnswer = Buffer.concat([settingsFrame, headers]);
const http1Head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

type Client = (socket: Socket) => Promise<unknown>;

const hop = firstHop({ url: httpUrl(`http://${host}/`), headers: [], hostOverride: '' });
const wanted = { bodyBytesMax: () => 10 * 1024, reserve: () => true };
const timeoutMs = 60_000;
const http =
  (exchange: typeof exchangeHttp1): Client =>
  async (socket) => {
    const deadline = startDeadline(clock, timeoutMs);
    await exchange(socket, hop, { clock, deadline, ...wanted });
    deadline.cancel();
  };
const grpc: Client = async (socket) => {
  const untilMs = clock.monotonicMs() + timeoutMs;
  const call = { authority: host, service: '', userAgent: '', deadlineMs: untilMs };
  const session = await openSession(socket, { clock, untilMs, call, attempt: { isEager: true, isFirst: false } });
  await session?.outcome;
};

type Kind = {
  readonly client: Client;
  readonly begin: Buffer;
  /** Sent one after the other, each a read of its own. */
  readonly more: readonly Buffer[];
};

const kinds: Readonly<Record<string, Kind>> = {
  'HTTP/1: the first byte of a body behind informational heads': {
    client: http(exchangeHttp1),
    begin: Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'),
    more: [Buffer.from(`HTTP/1.1 103 X\r\nX: ${'a'.repeat(readBytes - 500)}\r\n\r\n${http1Head}5\r\na`)],
  },
  'HTTP/1: a chunk line that is not complete': {
    client: http(exchangeHttp1),
    begin: Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'),
    more: [Buffer.from(`HTTP/1.1 103 X\r\nX: ${'a'.repeat(readBytes - 500)}\r\n\r\n${http1Head}5`)],
  },
  'HTTP/2: a body byte by byte': {
    client: http(exchangeHttp2),
    begin: begunAnswer,
    more: Array.from({ length: 8 }, () => Buffer.concat([data(Buffer.from('a')), filler])),
  },
  'HTTP/2: a body of empty frames': {
    client: http(exchangeHttp2),
    begin: begunAnswer,
    more: Array.from({ length: 4 }, () => emptyData),
  },
  'HTTP/2: a frame that has begun': {
    client: http(exchangeHttp2),
    begin: begunAnswer,
    more: [Buffer.concat([filler, begunData])],
  },
  'gRPC: a frame that has begun': {
    client: grpc,
    begin: begunAnswer,
    more: [Buffer.concat([filler, begunData])],
  },
};

type Pair = { readonly client: Socket; readonly peer: Socket };

/** Connections on which the client has read `begin`. */
async function begun(t: TestContext, { client, begin }: Kind): Promise<readonly Pair[]> {
  const peers: Socket[] = [];
  const server = createServer((peer) => {
    peers.push(peer.on('error', () => undefined));
    peer.once('data', () => peer.write(begin));
  });
  const { port, close } = await listenWith(server, host);
  t.after(close);
  const sockets: Socket[] = [];
  for (let count = 0; count < connections; count += 1) {
    const socket = peerSocket()
      .connect({ host, port })
      .on('error', () => undefined);
    await new Promise((resolve) => socket.once('connect', resolve));
    sockets.push(socket);
    void client(socket);
  }
  const byPort = new Map(peers.map((peer) => [peer.remotePort, peer]));
  const pairs = sockets.flatMap((socket) => {
    const peer = byPort.get(socket.localPort);
    return peer ? [{ client: socket, peer }] : [];
  });
  await allRead(pairs, () => begin.length);
  return pairs;
}

/** Until each client has read so many bytes. */
async function allRead(pairs: readonly Pair[], bytes: (pair: Pair) => number): Promise<void> {
  while (pairs.some((pair) => pair.client.bytesRead < bytes(pair))) {
    for (const { client } of pairs) assert.ok(!client.destroyed, 'the client gave up');
    await turnOfTheLoop();
  }
}

async function heldBytes(): Promise<number> {
  for (let turns = 0; turns < 3; turns += 1) {
    await turnOfTheLoop();
    collectGarbage();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe(`${connections} clients hold little of`, () => {
  for (const [name, kind] of Object.entries(kinds))
    test(name, async (t) => {
      const pairs = await begun(t, kind);
      const before = await heldBytes();
      let sent = kind.begin.length;
      for (const bytes of kind.more) {
        sent += bytes.length;
        for (const { peer } of pairs) peer.write(bytes);
        await allRead(pairs, () => sent);
      }
      const perClient = async () => ((await heldBytes()) - before) / connections;
      // What was read is taken in slices, over many turns.
      for (let tries = 0; tries < triesMax && (await perClient()) >= readBytes / 2; tries += 1)
        for (let turns = 0; turns < 10; turns += 1) await turnOfTheLoop();
      const held = await perClient();
      assert.ok(held < readBytes / 2, `${Math.round(held / 1024)} KiB each`);
    });
});
