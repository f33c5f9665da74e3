import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '../../shared/core/spec/types.ts';
import type { Probers } from '../../shared/prober/prober.ts';
import { storedOutputBytesMax, withStorableOutput } from '../../shared/prober/stored-output.ts';
import { execRequest } from '../support/exec-request.ts';

const http = { kind: 'http', url: 'http://127.0.0.1/', headers: [], hostOverride: '', timeoutMs: 1000 } as const;
const exec = execRequest(['true'], 1000);

function always(attempt: Partial<Attempt>): Probers {
  const prober = async () => ({ outcome: 'success', output: '', timings: { totalMs: 1 }, ...attempt }) as const;
  return withStorableOutput({ http: prober, tcp: prober, grpc: prober, exec: prober });
}

test('the body of a successful HTTP probe is dropped', async () =>
  assert.equal((await always({ output: 'secret' }).http(http)).output, ''));

const terminated = 'Probe terminated redirects';
const failed = 'HTTP probe failed with statuscode: 500';

for (const [what, outcome, output, kept] of [
  [
    'a redirect that is not followed keeps its text and loses the body',
    'warning',
    `${terminated}, Response body: secret`,
    terminated,
  ],
  ['a failure keeps its text, which never carries a body', 'failure', failed, failed],
] as const)
  test(what, async () => assert.equal((await always({ outcome, output }).http(http)).output, kept));

test('what a command printed is kept up to 1 KiB, no character cut in two', async () => {
  const { output } = await always({ output: 'é'.repeat(storedOutputBytesMax) }).exec(exec);
  assert.equal(output, 'é'.repeat(storedOutputBytesMax / 2));
  const { output: odd } = await always({ output: `a${'é'.repeat(storedOutputBytesMax)}` }).exec(exec);
  assert.equal(odd, `a${'é'.repeat(storedOutputBytesMax / 2 - 1)}`);
});

test('timings are rounded to the microsecond', async () => {
  const attempt = await always({ timings: { connectMs: 0.123456, totalMs: 1.5 } }).http(http);
  assert.deepEqual(attempt.timings, { connectMs: 0.123, totalMs: 1.5 });
});
