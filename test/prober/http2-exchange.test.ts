/** Over HTTP/2, what `wire-h2.jsonl` cannot record because kubelet does not come back from it, and what once ended the prober's process. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Attempt } from '../../shared/core/types.ts';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { grpcProber } from '../../shared/prober/grpc.ts';
import { httpProber } from '../../shared/prober/http.ts';
import { startHttp2Script } from '../support/http2-script-server.ts';
import { loopbackDial as dial } from '../support/loopback-dial.ts';

const host = '127.0.0.1';
const timeoutMs = 60_000;

type FrameOptions = { readonly flags?: number; readonly stream?: number };

/** RFC 9113, 4.1. */
function frame(type: number, payload: readonly number[] = [], { flags = 0, stream = 0 }: FrameOptions = {}): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, Buffer.from(payload)]);
}

const endHeaders = 0x4;
const settings = frame(4);
/** RFC 7541: field 8 of the static table. */
const status200 = 0x88;
const literal = (name: string, value: string): readonly number[] => [
  0x00,
  ...[name.length, ...Buffer.from(name)],
  ...[value.length, ...Buffer.from(value)],
];
const headers = (block: readonly number[], flags = endHeaders) => frame(1, block, { flags, stream: 1 });
const windowUpdate = (increment: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(increment);
  return frame(8, [...bytes], { stream: 1 });
};

async function probed(t: TestContext, kind: 'https' | 'grpc', reply: readonly Buffer[]): Promise<Attempt> {
  const script = {
    hello: [{ sendBase64: settings.toString('base64') }],
    reply: [{ sendBase64: Buffer.concat(reply).toString('base64') }],
  };
  const { port, close } = await startHttp2Script(script, kind === 'https');
  t.after(close);
  if (kind === 'grpc') return grpcProber({ dial, clock })({ kind, host, port, service: '', timeoutMs });
  const url = `https://${host}:${port}/`;
  return httpProber({ dial, clock })({ kind: 'http', url, headers: [], hostOverride: '', timeoutMs });
}

test('a window that is too large fails the probe', async (t) => {
  const { outcome, output } = await probed(t, 'https', [windowUpdate(2 ** 31 - 1), headers([status200])]);
  assert.equal(outcome, 'failure');
  assert.match(output, /FLOW_CONTROL_ERROR/);
});

describe('a header block that HTTP/2 forbids fails the probe and nothing else:', () => {
  const type = literal('content-type', 'application/grpc');
  const blocks: Readonly<Record<string, readonly Buffer[]>> = {
    'a field of the connection': [headers([status200, ...type, ...literal('Connection', 'keep-alive')])],
    'a second status': [headers([status200, ...type, status200])],
    'a block that another frame cuts': [headers([status200, ...type], 0), frame(6, [1, 2, 3, 4, 5, 6, 7, 8])],
  };
  for (const [what, reply] of Object.entries(blocks))
    for (const kind of ['https', 'grpc'] as const)
      test(`${what}, ${kind}`, async (t) => {
        for (let times = 0; times < 20; times += 1)
          assert.equal((await probed(t, kind, reply)).outcome, 'failure', `the ${times + 1}th time`);
      });
});
