/**
 * Over HTTP/2, what `wire-h2.jsonl` cannot record because kubelet does not come back from it, and what once ended the
 * prober's process.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Attempt } from '../../../shared/core/spec/types.ts';
import { type Clock, systemClock as clock } from '../../../shared/lib/clock.ts';
import { grpcProber } from '../../../shared/prober/grpc/grpc.ts';
import { httpProber } from '../../../shared/prober/http/http.ts';
import {
  flags,
  frame,
  frameType,
  grpcHeaders,
  literal,
  settingsFrame,
  status200,
} from '../../fuzz-peers/http2-frames.ts';
import { startHttp2Script } from '../../support/http2-script-server.ts';
import { startHttp2Thread } from '../../support/http2-script-thread.ts';
import { loopbackDial as dial } from '../../support/loopback-dial.ts';
import { probeUrl } from '../../support/probe-url.ts';
import { portOf } from '../../support/tcp-server.ts';

const host = '127.0.0.1';
const timeoutMs = 60_000;
/** When the client acknowledges the server's SETTINGS. */
const acknowledgedAfterMs = 20;

const headers = (block: readonly Buffer[], bits: number = flags.endHeaders) =>
  frame(frameType.headers, Buffer.concat(block), { flags: bits, stream: 1 });
const windowUpdate = (increment: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(increment);
  return frame(frameType.windowUpdate, bytes, { stream: 1 });
};

async function probed(t: TestContext, kind: 'https' | 'grpc', reply: readonly Buffer[]): Promise<Attempt> {
  const script = {
    hello: [{ sendBase64: settingsFrame.toString('base64') }],
    reply: [{ sendBase64: Buffer.concat(reply).toString('base64') }],
  };
  const port = await portOf(t, startHttp2Script(script, kind === 'https'));
  if (kind === 'grpc') return grpcProber({ dial, clock })({ kind, host, port, service: '', timeoutMs });
  return probeUrl(`https://${host}:${port}/`);
}

test('a window that is too large fails the probe', async (t) => {
  const { outcome, output } = await probed(t, 'https', [windowUpdate(2 ** 31 - 1), headers([status200])]);
  assert.equal(outcome, 'failure');
  assert.match(output, /FLOW_CONTROL_ERROR/);
});

test('an answer counts though its server resets the connection at once', async (t) => {
  const answer = headers([status200], flags.endHeaders | flags.endStream);
  const port = await startHttp2Thread(t, {
    hello: [{ sendBase64: settingsFrame.toString('base64') }],
    reply: [{ sendBase64: answer.toString('base64') }],
    // biome-ignore lint/suspicious/noThenProperty: the scripts of vectors have it, and none is awaited.
    then: 'reset-at-once',
  });
  for (let times = 1; times <= 40; times += 1) {
    const { outcome, output } = await probeUrl(`https://${host}:${port}/`);
    assert.equal(outcome, 'success', `the ${times}th time: ${output}`);
  }
});

/** The clock of a process that stands still when so long is waited: a server answers and leaves meanwhile. */
const standingStill = (delayOfMs: number): Clock => ({
  ...clock,
  setTimer(delayMs, callback) {
    const cancel = clock.setTimer(delayMs, callback);
    if (delayMs === delayOfMs) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
    return cancel;
  },
});

test('an answer counts though the server has reset the connection before its SETTINGS are acknowledged', async (t) => {
  const answer = headers([status200], flags.endHeaders | flags.endStream);
  const port = await startHttp2Thread(t, {
    hello: [{ sendBase64: settingsFrame.toString('base64') }],
    reply: [{ sendBase64: answer.toString('base64') }],
    // biome-ignore lint/suspicious/noThenProperty: the scripts of vectors have it, and none is awaited.
    then: 'reset-at-once',
  });
  const probe = httpProber({ dial, clock: standingStill(acknowledgedAfterMs) });
  const request = { kind: 'http', url: `https://${host}:${port}/`, headers: [], hostOverride: '', timeoutMs } as const;
  for (let times = 1; times <= 5; times += 1) {
    const { outcome, output } = await probe(request);
    assert.equal(outcome, 'success', `the ${times}th time: ${output}`);
  }
});

describe('a server that refuses each request', () => {
  const base64 = (bytes: Buffer) => ({ sendBase64: bytes.toString('base64') });
  const hello = [base64(settingsFrame)];
  const refused = { hello, reply: [base64(frame(frameType.rstStream, Buffer.from([0, 0, 0, 7]), { stream: 1 }))] };
  const ok = { hello, reply: [base64(headers([status200], flags.endHeaders | flags.endStream))] };

  test('passes if it recovers within the time-out, even after many refusals', async (t) => {
    const port = await portOf(t, startHttp2Script([refused, ...Array.from({ length: 19 }, () => refused), ok], true));
    assert.equal((await probeUrl(`https://${host}:${port}/`)).outcome, 'success');
  });

  test('is asked until the time is over, but a few times a second only', async (t) => {
    const server = await startHttp2Script(refused, true);
    t.after(server.close);
    const url = `https://${host}:${server.port}/`;
    const request = { kind: 'http', url, headers: [], hostOverride: '', timeoutMs: 2000 } as const;
    const { failureClass } = await httpProber({ dial, clock })(request);
    assert.match(failureClass ?? '', /TIMEOUT/);
    const requests = server.sent().length;
    assert.ok(requests > 16 && requests <= 16 + 20, `${requests} connections`);
  });
});

describe('a header block that HTTP/2 forbids fails the probe and nothing else:', () => {
  const ping = frame(frameType.ping, Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]));
  const blocks: Readonly<Record<string, readonly Buffer[]>> = {
    'a field of the connection': [headers([grpcHeaders, literal('Connection', 'keep-alive')])],
    'a second status': [headers([grpcHeaders, status200])],
    'a block that another frame cuts': [headers([grpcHeaders], 0), ping],
  };
  for (const [what, reply] of Object.entries(blocks))
    for (const kind of ['https', 'grpc'] as const)
      test(`${what}, ${kind}`, async (t) => {
        for (let times = 0; times < 20; times += 1)
          assert.equal((await probed(t, kind, reply)).outcome, 'failure', `the ${times + 1}th time`);
      });
});
