/**
 * Answers that are longer than a health check needs: fields that the prober does not know, as a later version of the
 * service may have.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http2';
import { type TestContext, test } from 'node:test';
import { systemClock as clock } from '../../../shared/lib/clock.ts';
import { grpcProber } from '../../../shared/prober/grpc/grpc.ts';
import { flags, frame, frameType, grpcHeaders, literal, settingsFrame } from '../../fuzz-peers/http2-frames.ts';
import { startHttp2Script } from '../../support/http2-script-server.ts';
import { loopbackDial as dial } from '../../support/loopback-dial.ts';
import { listenWith, portOf } from '../../support/tcp-server.ts';

const host = '127.0.0.1';
const mib = 1024 * 1024;

/** SERVING, and field 2 of so many bytes. */
function answer(bytes: number): Buffer {
  const length: number[] = [];
  let rest = bytes;
  for (; rest > 127; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  const message = Buffer.concat([Buffer.from([0x08, 1, 0x12, ...length, rest]), Buffer.alloc(bytes)]);
  return Buffer.concat([prefixed(message.length), message]);
}

const prefixBytes = 5;

function prefixed(lengthBytes: number): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(lengthBytes, 1);
  return prefix;
}

const probed = (port: number) =>
  grpcProber({ dial, clock })({ kind: 'grpc', host, port, service: '', timeoutMs: 60_000 });

/** A server that keeps to its window. */
async function answering(t: TestContext, body: Buffer) {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(body);
  });
  return probed(await portOf(t, listenWith(server, host)));
}

for (const bytes of [10_000, 66_000, mib, 4 * mib - 20])
  test(`an answer of ${bytes} bytes is taken`, async (t) => {
    const { outcome, output } = await answering(t, answer(bytes));
    assert.deepEqual([outcome, output], ['success', 'service healthy']);
  });

test('a long answer with more than one long field is refused, since only its first 4 KiB are kept', async (t) => {
  const unknown = answer(5000).subarray(prefixBytes);
  const message = Buffer.concat([unknown, unknown]);
  const { outcome, output } = await answering(t, Buffer.concat([prefixed(message.length), message]));
  assert.equal(outcome, 'failure');
  assert.match(output, new RegExp(`received message larger than max \\(${message.length} vs\\. 4096\\)`));
});

test('an answer of more than 4 MiB is refused', async (t) => {
  const { outcome, output } = await answering(t, answer(4 * mib));
  assert.equal(outcome, 'failure');
  assert.match(output, /received message larger than max \(\d+ vs\. 4194304\)/);
});

test('a server that does not wait for its window fails, however soon it was granted', async (t) => {
  const body = answer(100_000);
  const ofStream = (bits: number) => ({ flags: bits, stream: 1 });
  const frames = [frame(frameType.headers, grpcHeaders, ofStream(flags.endHeaders))];
  for (let at = 0; at < body.length; at += 16_384)
    frames.push(frame(frameType.data, body.subarray(at, at + 16_384), ofStream(0)));
  frames.push(frame(frameType.headers, literal('grpc-status', '0'), ofStream(flags.endHeaders | flags.endStream)));
  const hello = [{ sendBase64: settingsFrame.toString('base64') }];
  const reply = [{ sendBase64: Buffer.concat(frames).toString('base64') }];
  const port = await portOf(t, startHttp2Script({ hello, reply }, false));
  assert.equal((await probed(port)).outcome, 'failure');
});
