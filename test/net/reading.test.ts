/**
 * How connections to peers share the event loop: a peer that sends little is read at once, one that sends much waits.
 */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { peerSocket, readSocket } from '../../shared/net/reading.ts';
import { listenWith } from '../support/tcp-server.ts';
import { turnOfTheLoop } from '../support/virtual-clock.ts';

const host = '127.0.0.1';
const largeBytes = 2 * 1024 * 1024;

/** Sockets whose peers each send one of these and end. */
async function socketsOf(t: TestContext, replies: readonly Buffer[]): Promise<readonly Socket[]> {
  const waiting = [...replies];
  const server = createServer((peer) => {
    peer.on('error', () => undefined).end(waiting.shift() ?? '');
  });
  const { port, close } = await listenWith(server, host);
  t.after(close);
  return replies.map(() => peerSocket().connect({ host, port }));
}

type Heard = { readonly bytes: Buffer; readonly pieces: readonly number[] };

const nothing = () => undefined;
const ignored = { ended: nothing, failed: nothing, closed: nothing };

/** A socket that already holds bytes of this reply in the kernel or in the process. */
async function waitingSocket(t: TestContext, reply: Buffer): Promise<Socket> {
  const [socket] = await socketsOf(t, [reply]);
  assert.ok(socket);
  while (socket.bytesRead === 0) await turnOfTheLoop();
  return socket;
}

const heardFrom = (socket: Socket, onPiece: (bytes: Buffer) => void = nothing): Promise<Heard> =>
  new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    readSocket(socket, {
      take: (bytes) => {
        pieces.push(bytes);
        onPiece(bytes);
      },
      ended: () => resolve({ bytes: Buffer.concat(pieces), pieces: pieces.map(({ length }) => length) }),
      failed: reject,
      closed: nothing,
    });
  });

const numbered = (bytes: number): Buffer => Buffer.from(Uint32Array.from({ length: bytes / 4 }, (_, at) => at).buffer);

describe('a connection', () => {
  test('brings all bytes in their order, and its end behind them', async (t) => {
    const reply = numbered(largeBytes);
    const [socket] = await socketsOf(t, [reply]);
    const { bytes, pieces } = await heardFrom(socket as Socket);
    assert.ok(bytes.equals(reply));
    assert.ok(Math.max(...pieces) <= 16 * 1024, 'in small pieces');
  });

  test('that sends little is heard before others that send much', async (t) => {
    const sockets = await socketsOf(t, [
      ...Array.from({ length: 8 }, () => numbered(largeBytes)),
      Buffer.from('small'),
    ]);
    let largeTaken = 0;
    const busy = (bytes: Buffer) => {
      largeTaken += bytes.length;
      for (const untilMs = performance.now() + 1; performance.now() < untilMs; );
    };
    const large = sockets.slice(0, -1).map((socket) => heardFrom(socket, busy));
    await heardFrom(sockets.at(-1) as Socket);
    assert.ok(largeTaken < (8 * largeBytes) / 2, `${largeTaken} bytes of the others came first`);
    await Promise.all(large);
  });

  test('that is held brings nothing until it is released', async (t) => {
    const [socket] = await socketsOf(t, [numbered(largeBytes)]);
    let taken = 0;
    const reading = readSocket(socket as Socket, {
      take: (bytes) => {
        taken += bytes.length;
        if (taken === bytes.length) reading.hold();
      },
      ...ignored,
    });
    while (taken === 0) await turnOfTheLoop();
    const first = taken;
    for (let turns = 0; turns < 20; turns += 1) await turnOfTheLoop();
    assert.equal(taken, first);
    reading.release();
    while (taken < largeBytes) await turnOfTheLoop();
  });

  test('is quiet only when the kernel has no more bytes', async (t) => {
    const reply = numbered(96 * 1024);
    const socket = await waitingSocket(t, reply);
    let taken = 0;
    const takenAtOnce = await new Promise((resolve) => {
      const take = (bytes: Buffer) => {
        if (taken === 0) reading.whenQuiet(() => resolve(taken));
        taken += bytes.length;
      };
      const reading = readSocket(socket, { take, ...ignored });
    });
    assert.equal(takenAtOnce, reply.length);
  });

  test('that has brought its bytes before it is read loses none', async (t) => {
    const reply = numbered(64 * 1024);
    const { bytes } = await heardFrom(await waitingSocket(t, reply));
    assert.ok(bytes.equals(reply));
  });

  test('that has brought its bytes before may be held as soon as they are taken', async (t) => {
    const socket = await waitingSocket(t, numbered(1024));
    const taken = await new Promise((resolve) => {
      const take = (bytes: Buffer) => {
        reading.hold();
        resolve(bytes.length);
      };
      const reading = readSocket(socket, { take, ...ignored });
    });
    assert.equal(taken, 1024);
  });
});

test('what a piece leads to is done before another connection has a piece', async (t) => {
  const sockets = await socketsOf(
    t,
    Array.from({ length: 8 }, () => numbered(64 * 1024)),
  );
  const order: string[] = [];
  await Promise.all(
    sockets.map((socket, at) =>
      heardFrom(socket, () => {
        order.push(`piece of ${at}`);
        void Promise.resolve()
          .then(() => undefined)
          .then(() => order.push(`behind a piece of ${at}`));
      }),
    ),
  );
  for (const [at, entry] of order.entries())
    if (entry.startsWith('piece')) assert.equal(order[at + 1], `behind a ${entry}`);
});

test('connections whose bytes are costly share each turn, however many bring theirs at once', async (t) => {
  const count = 40;
  const busyMs = 6;
  const sockets = await socketsOf(
    t,
    Array.from({ length: count }, () => Buffer.from('costly')),
  );
  while (sockets.some(({ bytesRead }) => bytesRead === 0)) await turnOfTheLoop();
  let [inThisTurn, most, taken] = [0, 0, 0];
  for (const socket of sockets)
    readSocket(
      socket,
      {
        take: () => {
          inThisTurn += 1;
          taken += 1;
          most = Math.max(most, inThisTurn);
          for (const untilMs = performance.now() + busyMs; performance.now() < untilMs; );
        },
        ...ignored,
      },
      { directBytesMax: 32 * 1024, isCostly: true },
    );
  while (taken < count) {
    await turnOfTheLoop();
    inThisTurn = 0;
  }
  assert.ok(most <= 3, `${most} in one turn`);
});
