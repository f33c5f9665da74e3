/** Each write of the prober is a system call and most often a packet: much of what a gRPC probe costs. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { systemClock as clock } from '../../../shared/lib/clock.ts';
import type { Dial } from '../../../shared/net/net.ts';
import { grpcProber } from '../../../shared/prober/grpc/grpc.ts';
import {
  answer,
  frame,
  frameReader,
  frameType,
  settingsFrame,
  stream,
  trailers,
} from '../../fuzz-peers/http2-frames.ts';
import { loopbackDial } from '../../support/loopback-dial.ts';
import { listenWith, portOf } from '../../support/tcp-server.ts';

const host = '127.0.0.1';
/** The preface and the client's SETTINGS are shorter, the request is longer. */
const greetingBytesMax = 100;

/** The prober's dial, and the types of the frames in each write to its sockets. */
function watched(): { readonly dial: Dial; readonly writes: number[][] } {
  const writes: number[][] = [];
  const dial: Dial = async (request) => {
    const dialed = await loopbackDial(request);
    if (dialed.kind !== 'connected') return dialed;
    const { socket } = dialed;
    const write = socket.write.bind(socket);
    const read = frameReader(({ type }) => writes.at(-1)?.push(type));
    socket.write = (bytes: Uint8Array | string) => {
      writes.push([]);
      read(Buffer.from(bytes));
      return write(bytes);
    };
    return dialed;
  };
  return { dial, writes };
}

test('one write answers what the server sends together, with the request; none follows the outcome', async (t) => {
  const ping = frame(frameType.ping, 'pingpong');
  const message = frame(frameType.data, Buffer.from([0, 0, 0, 0, 2, 8, 1]), { stream });
  const server = createServer((socket) => {
    socket.write(Buffer.concat([settingsFrame, ping]));
    let received = 0;
    socket.on('data', (bytes) => {
      received += bytes.length;
      if (received > greetingBytesMax) socket.write(Buffer.concat([ping, answer, message, trailers]));
    });
    socket.on('error', () => undefined);
  });
  const port = await portOf(t, listenWith(server, host));
  const { dial, writes } = watched();
  const { output } = await grpcProber({ dial, clock })({ kind: 'grpc', host, port, service: '', timeoutMs: 10_000 });
  assert.equal(output, 'service healthy');
  const { settings, headers, data } = frameType;
  assert.deepEqual(writes, [[settings], [settings, frameType.ping, headers, data]]);
});
