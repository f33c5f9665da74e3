/** Each write is a system call and most often a packet, which is much of what a gRPC probe costs. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { grpcProber } from '../../shared/prober/grpc.ts';
import { answer, frame, frameType, settingsFrame, stream, trailers } from '../fuzz-peers/http2-frames.ts';
import { loopbackDial as dial } from '../support/loopback-dial.ts';
import { listenWith, portOf } from '../support/tcp-server.ts';

const host = '127.0.0.1';
const prefaceBytes = 24;
const frameHeaderBytes = 9;

/** The types of the frames, which must be whole. */
function typesOf(bytes: Buffer): readonly number[] {
  const types: number[] = [];
  for (let at = 0; at < bytes.length; at += frameHeaderBytes + bytes.readUIntBE(at, 3)) types.push(bytes[at + 3] ?? -1);
  return types;
}

test('one packet answers what the server sends together, with the request; none follows the outcome', async (t) => {
  const ping = frame(frameType.ping, 'pingpong');
  const message = frame(frameType.data, Buffer.from([0, 0, 0, 0, 2, 8, 1]), { stream });
  const packets: (readonly number[])[] = [];
  const server = createServer((socket) => {
    socket.on('data', (bytes) => {
      const isFirst = packets.length === 0;
      packets.push(typesOf(isFirst ? bytes.subarray(prefaceBytes) : bytes));
      socket.write(isFirst ? Buffer.concat([settingsFrame, ping]) : Buffer.concat([ping, answer, message, trailers]));
    });
    socket.on('error', () => undefined);
  });
  const port = await portOf(t, listenWith(server, host));
  const request = { kind: 'grpc', host, port, service: '', timeoutMs: 10_000 } as const;
  const { output } = await grpcProber({ dial, clock })(request);
  assert.equal(output, 'service healthy');
  // The server reads what had been on its way.
  await new Promise((resolve) => server.close(resolve));
  const { settings, headers, data } = frameType;
  assert.deepEqual(packets, [[settings], [settings, frameType.ping, headers, data]]);
});
