/**
 * A probe of 115 s over HTTP/2 whose server does not answer for long: as kubelet v1.36.3's own prober (pkg/probe/http),
 * asked with the same servers, which pings after 30 s without a frame and waits 15 s for the answer.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, type TLSSocket } from 'node:tls';
import { httpProber } from '../../../shared/prober/http/http.ts';
import { flags, frame, frameType, settingsFrame, status200 } from '../../fuzz-peers/http2-frames.ts';
import { localhostCertificate } from '../../support/certificate.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { eachFrame } from '../../support/http2-script-server.ts';
import { loopbackDial } from '../../support/loopback-dial.ts';
import { listenWith } from '../../support/tcp-server.ts';

const probe = httpProber({ dial: loopbackDial, clock: fastClock });
const timeoutMs = 115_000;
const headerBytes = 9;
/** The server counts from when it has seen the connection, which is later than the client. */
const sentBySeconds = 5;

type Peer = {
  /** From the accept on. `wait`: in the clock of the probe. */
  readonly play?: (socket: TLSSocket, wait: (seconds: number) => Promise<void>) => Promise<void>;
  /** What answers a PING with this payload. */
  readonly answer?: (payload: Buffer) => Buffer;
};

const wait = (seconds: number): Promise<void> =>
  new Promise((resolve) => void fastClock.setTimer(seconds * 1_000, resolve));

/** Serves one peer, and says after how many seconds each PING of its client came. */
async function serve(t: TestContext, { play, answer }: Peer) {
  const pingSeconds: number[] = [];
  const server = createServer({ ...localhostCertificate(), ALPNProtocols: ['h2'] }, (socket) => {
    const startMs = fastClock.monotonicMs();
    socket.on('error', () => undefined);
    eachFrame(socket, (sent) => {
      if (sent[3] !== frameType.ping || sent[4] === flags.ack) return;
      pingSeconds.push((fastClock.monotonicMs() - startMs) / 1_000);
      if (answer) socket.write(frame(frameType.ping, answer(sent.subarray(headerBytes)), { flags: flags.ack }));
    });
    socket.write(settingsFrame);
    void play?.(socket, wait);
  });
  const { port, close } = await listenWith(server, '127.0.0.1');
  t.after(close);
  return { port, pingSeconds };
}

const head = (bits: number) => frame(frameType.headers, status200, { flags: bits, stream: 1 });
const whole = head(flags.endHeaders | flags.endStream);
const lateAnswer: Peer['play'] = async (socket) => {
  await wait(50);
  socket.write(whole);
};
const same = (payload: Buffer): Buffer => payload;

type Case = {
  readonly peer: Peer;
  readonly outcome: string;
  readonly output: RegExp;
  /** Absent: none. With it, the attempt is a prober error. */
  readonly error?: string;
  readonly pings: readonly number[];
  readonly seconds: number;
};

const lost = { outcome: 'failure', output: /^Get "[^"]+": http2: client connection lost$/, pings: [30], seconds: 45 };

const cases: Readonly<Record<string, Case>> = {
  'that is silent': { peer: {}, ...lost },
  'that answers late, and no PING': { peer: { play: lateAnswer }, ...lost },
  'that answers late, and the PING': {
    peer: { play: lateAnswer, answer: same },
    outcome: 'success',
    output: /^$/,
    pings: [30],
    seconds: 50,
  },
  'that answers PINGs alone': {
    peer: { answer: same },
    outcome: 'failure',
    output: /^Get "[^"]+": context deadline exceeded \(Client\.Timeout exceeded while awaiting headers\)$/,
    pings: [30, 60, 90],
    seconds: timeoutMs / 1_000,
  },
  'that answers another PING': { peer: { answer: () => Buffer.alloc(8) }, ...lost },
  'that sends frames, and answers no PING': {
    peer: {
      play: async (socket) => {
        await wait(32);
        for (let at = 0; at < 20; at += 1) {
          socket.write(frame(frameType.windowUpdate, Buffer.from([0, 0, 0, 1])));
          await wait(1);
        }
      },
    },
    ...lost,
  },
  'that sends PINGs itself': {
    peer: {
      play: async (socket) => {
        for (let at = 0; at < 9; at += 1) {
          await wait(10);
          socket.write(frame(frameType.ping, Buffer.alloc(8)));
        }
      },
    },
    outcome: 'failure',
    output: /^Get "[^"]+": context deadline exceeded \(Client\.Timeout exceeded while awaiting headers\)$/,
    pings: [],
    seconds: timeoutMs / 1_000,
  },
  'that sends one frame byte by byte': {
    peer: {
      play: async (socket) => {
        socket.write(frame(0xbb, Buffer.alloc(100)).subarray(0, headerBytes));
        for (let at = 0; at < 60; at += 1) {
          await wait(1);
          socket.write(Buffer.from([7]));
        }
      },
    },
    ...lost,
  },
  'that begins a header block': {
    peer: {
      play: async (socket) => {
        await wait(20);
        socket.write(head(0));
        await wait(20);
        socket.write(frame(frameType.continuation, '', { stream: 1 }));
      },
    },
    ...lost,
  },
  'that stops in its body': {
    peer: {
      play: async (socket) => {
        socket.write(head(flags.endHeaders));
        socket.write(frame(frameType.data, 'half', { stream: 1 }));
      },
    },
    ...lost,
    output: /^$/,
    error: 'http2: client connection lost',
  },
};

/** Node's timers count from the beginning of the turn in which they are set, which has lasted for some time then. */
const turnMs = 10;

describe('over HTTP/2, a probe of 115 s', { concurrency: true }, () => {
  for (const [name, { peer, outcome, output, error, pings, seconds }] of Object.entries(cases))
    test(`of a server ${name}`, async (t) => {
      const { port, pingSeconds } = await serve(t, peer);
      const url = `https://127.0.0.1:${port}/`;
      const attempt = await probe({ kind: 'http', url, headers: [], hostOverride: '', timeoutMs });
      assert.deepEqual([attempt.outcome, attempt.error], [outcome, error], attempt.output);
      assert.match(attempt.output, output);
      // Only a busy machine is later.
      assert.ok(attempt.timings.totalMs > seconds * 1_000 - turnMs, `${attempt.timings.totalMs} ms`);
      assert.equal(pingSeconds.length, pings.length, `${pingSeconds}`);
      for (const [at, ping] of pings.entries()) assert.ok((pingSeconds[at] ?? 0) >= ping - sentBySeconds);
      if (outcome === 'failure') assert.equal(attempt.failureClass, error === undefined ? 'TIMEOUT' : 'BODY');
    });
});

test('a probe of 30 s sends no PING', async (t) => {
  const { port, pingSeconds } = await serve(t, {});
  const url = `https://127.0.0.1:${port}/`;
  const { outcome } = await probe({ kind: 'http', url, headers: [], hostOverride: '', timeoutMs: 30_000 });
  await sleep(100);
  assert.equal(outcome, 'failure');
  assert.deepEqual(pingSeconds, []);
});
