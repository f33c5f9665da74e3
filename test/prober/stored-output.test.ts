import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '../../shared/core/types.ts';
import type { Probers } from '../../shared/prober/prober.ts';
import { outputBytesMax, withStorableOutput } from '../../shared/prober/stored-output.ts';

const http = { kind: 'http', url: 'http://127.0.0.1/', headers: [], hostOverride: '', timeoutMs: 1000 } as const;
const exec = {
  kind: 'exec',
  command: ['true'],
  target: { namespace: 'default', name: 'a', uid: 'u' },
  container: 'main',
  timeoutMs: 1000,
} as const;

function always(attempt: Partial<Attempt>): Probers {
  const prober = async () => ({ outcome: 'success', output: '', timings: { totalMs: 1 }, ...attempt }) as const;
  return withStorableOutput({ http: prober, tcp: prober, grpc: prober, exec: prober });
}

test('the body of a successful HTTP probe is dropped', async () => {
  assert.equal((await always({ output: 'secret' }).http(http)).output, '');
});

test('of a redirect that was not followed the words stay and the body goes', async () => {
  const output = 'Probe terminated redirects, Response body: secret';
  assert.equal((await always({ outcome: 'warning', output }).http(http)).output, 'Probe terminated redirects');
});

test('a failure keeps its text, which never carries a body', async () => {
  const output = 'HTTP probe failed with statuscode: 500';
  assert.equal((await always({ outcome: 'failure', output }).http(http)).output, output);
});

test('what a command printed is kept up to 1 KiB, no character cut in two', async () => {
  const { output } = await always({ output: 'é'.repeat(outputBytesMax) }).exec(exec);
  assert.equal(output, 'é'.repeat(outputBytesMax / 2));
  const { output: odd } = await always({ output: `a${'é'.repeat(outputBytesMax)}` }).exec(exec);
  assert.equal(odd, `a${'é'.repeat(outputBytesMax / 2 - 1)}`);
});

test('timings are rounded to the microsecond', async () => {
  const attempt = await always({ timings: { connectMs: 0.123456, totalMs: 1.5 } }).http(http);
  assert.deepEqual(attempt.timings, { connectMs: 0.123, totalMs: 1.5 });
});
