/** What `wire-goaway.jsonl` cannot record, because grpc-go does it by chance. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock as clock } from '../../../shared/lib/clock.ts';
import { grpcProber } from '../../../shared/prober/grpc/grpc.ts';
import { answer, frame, frameType, settingsFrame, stream, trailers } from '../../fuzz-peers/http2-frames.ts';
import { startHttp2Script } from '../../support/http2-script-server.ts';
import { loopbackDial as dial } from '../../support/loopback-dial.ts';

const host = '127.0.0.1';
const last = (id: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(id);
  return frame(frameType.goAway, bytes);
};
const served = Buffer.concat([answer, frame(frameType.data, Buffer.from([0, 0, 0, 0, 2, 8, 1]), { stream }), trailers]);

describe('a call whose server says GOAWAY with its SETTINGS:', () => {
  const cases = [
    ['that takes the call all the same passes', 2 ** 31 - 1, 'service healthy'],
    [
      'that does not take it fails',
      0,
      'error: health rpc probe failed: rpc error: code = Unavailable desc = the connection is draining',
    ],
  ] as const;
  const probed = async (id: number) => {
    const hello = [{ sendBase64: Buffer.concat([settingsFrame, last(id)]).toString('base64') }];
    const reply = [{ sendBase64: served.toString('base64') }];
    const server = await startHttp2Script({ hello, reply }, false);
    const request = { kind: 'grpc', host, port: server.port, service: '', timeoutMs: 30_000 } as const;
    const { output } = await grpcProber({ dial, clock })(request);
    await server.whenRead();
    await server.close();
    const asked = server.sent().map((frames) => frames.filter(({ type }) => type === 'HEADERS').length);
    return { output, asked };
  };
  for (const [what, id, output] of cases)
    test(`one ${what}`, async () => assert.equal((await probed(id)).output, output));

  test('its request leaves in the end, after 16 connections', async () => {
    const { asked } = await probed(2 ** 31 - 1);
    assert.deepEqual(asked, [...Array.from({ length: 16 }, () => 0), 1]);
  });
});
