/** Which servers OpenSSL reads by itself, and which connections are ended for what they send. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { type TlsWatch, tlsWatch, type Watched } from '../../shared/net/tls-guard.ts';

const kib = 1_024;

/** A connection as far as it is watched; `raw`: bytes from the kernel, `content`: bytes that TLS has delivered. */
function connectionTo(remotePort: number) {
  const ended: string[] = [];
  const socket = { bytesRead: 0, remoteAddress: '192.0.2.1', remotePort };
  const secured = { bytesRead: 0, destroy: ({ code }: NodeJS.ErrnoException) => void ended.push(`${code}`) };
  const received = (raw: number, content = 0) => {
    socket.bytesRead += raw;
    secured.bytesRead += content;
  };
  return { socket: socket as unknown as Socket, secured: secured as unknown as TLSSocket, received, ended };
}

function watching() {
  const timers: (() => void)[] = [];
  const watch: TlsWatch = tlsWatch({
    setTimer: (_, callback) => {
      timers.push(callback);
      return () => undefined;
    },
  });
  const open = (port: number) => {
    const connection = connectionTo(port);
    return { ...connection, watched: watch.watch(connection.socket, connection.secured) };
  };
  const look = () => timers.shift()?.();
  return { watch, open, look, waiting: () => timers.length };
}

describe('a server', () => {
  const isTrusted = (watch: TlsWatch, port: number) => watch.isTrusted(connectionTo(port).socket);

  test('is trusted after an ordinary handshake, and never after one that was too long', () => {
    const { watch, open } = watching();
    assert.equal(isTrusted(watch, 443), false);
    watch.trust(connectionTo(443).socket);
    assert.equal(isTrusted(watch, 443), true);
    assert.equal(isTrusted(watch, 444), false);
    const { watched, received } = open(443);
    received(33 * kib);
    assert.equal(watched.shaken(), false);
    watch.trust(connectionTo(443).socket);
    assert.equal(isTrusted(watch, 443), false);
  });

  test('that speaks before TLS reads is not trusted with this connection', () => {
    const { watch } = watching();
    const { socket, received } = connectionTo(22);
    watch.trust(socket);
    received(20);
    assert.equal(watch.isTrusted(socket), false);
  });

  test('is a stranger again after 16,384 others', () => {
    const { watch } = watching();
    for (let port = 1; port <= 16_385; port += 1) watch.trust(connectionTo(port).socket);
    assert.deepEqual(
      [1, 2, 16_385].map((port) => isTrusted(watch, port)),
      [false, true, true],
    );
  });
});

describe('a connection', () => {
  test('is ended while its handshake takes more than 32 KiB', () => {
    const { watch, open, look } = watching();
    const [long, short] = [open(1), open(2)];
    long.received(33 * kib);
    short.received(32 * kib);
    look();
    assert.deepEqual([long.ended, short.ended], [['TOO_MUCH_BELOW_TLS'], []]);
    watch.trust(connectionTo(1).socket);
    assert.equal(watch.isTrusted(connectionTo(1).socket), false);
  });

  test('may bring content of any size, and not records without content', () => {
    const { open, look } = watching();
    const [large, tiny, empty] = [open(1), open(2), open(3)];
    for (const { watched, received } of [large, tiny, empty]) {
      received(4 * kib);
      assert.equal(watched.shaken(), true);
    }
    large.received(50_000 * kib, 49_000 * kib);
    tiny.received(23 * 4 * kib, 4 * kib);
    empty.received(257 * kib);
    look();
    assert.deepEqual([large.ended, tiny.ended, empty.ended], [[], [], ['TOO_MUCH_BELOW_TLS']]);
  });

  test('that is over is not looked at, and no look is made when none is open', () => {
    const { open, look, waiting } = watching();
    const { watched, received, ended } = open(1);
    received(100 * kib);
    watched.end();
    look();
    assert.deepEqual([ended, waiting()], [[], 0]);
    open(2);
    assert.equal(waiting(), 1);
  });
});

describe('handshakes that OpenSSL reads by itself', () => {
  const sixteen = Array.from({ length: 16 }, (_, at) => at);

  /** With as many under way as there may be. */
  function full() {
    const watched = watching();
    for (const at of sixteen) assert.equal(watched.watch.takePlace(), true, `number ${at}`);
    const under = sixteen.map((port) => watched.open(port));
    const [first, second] = under;
    assert.ok(first && second);
    const waiting = (port: number) => {
      const { socket } = connectionTo(port);
      watched.watch.trust(socket);
      return watched.watch.whenPlace(socket);
    };
    return { ...watched, first, second, waiting };
  }

  test('are 16 at most', () => assert.equal(full().watch.takePlace(), false));

  for (const [name, over] of [
    ['is over', ({ shaken }: Watched) => void shaken()],
    ['has ended with its connection', ({ end }: Watched) => end()],
    [
      'is over, and then its connection',
      (watched: Watched) => {
        watched.shaken();
        watched.end();
        watched.shaken();
      },
    ],
  ] as const)
    test(`are one less when one ${name}`, () => {
      const { watch, first } = full();
      over({ shaken: () => first.watched.shaken(), end: () => first.watched.end() });
      assert.deepEqual([watch.takePlace(), watch.takePlace()], [true, false]);
    });

  test('are joined by those that wait, in their order', async () => {
    const { watch, first, second, waiting } = full();
    const order: number[] = [];
    const [one, other] = [100, 101].map((port) => waiting(port).then((hasPlace) => hasPlace && order.push(port)));
    first.watched.shaken();
    second.watched.end();
    await Promise.all([one, other]);
    assert.deepEqual(order, [100, 101]);
    assert.equal(watch.takePlace(), false, 'the places are theirs');
  });

  test('are not joined by one that has waited too long, and its place goes to others', async () => {
    const { watch, look, waiting, first } = full();
    const late = waiting(100);
    // The first timer looks at the connections, the second ends the wait.
    look();
    look();
    assert.equal(await late, false);
    first.watched.shaken();
    assert.equal(watch.takePlace(), true);
  });

  test('are not joined by a server that is trusted no more, and its place goes to others', async () => {
    const { watch, first, waiting } = full();
    const late = waiting(100);
    watch.distrust(connectionTo(100).socket);
    first.watched.shaken();
    assert.equal(await late, false);
    assert.equal(watch.takePlace(), true);
  });
});
