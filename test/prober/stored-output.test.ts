import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProbeOutcome } from '../../shared/core/types.ts';
import type { HttpRequest, Probers } from '../../shared/prober/prober.ts';
import { outputBytesMax, withStorableOutput } from '../../shared/prober/stored-output.ts';

type Said = { readonly outcome: ProbeOutcome; readonly output: string; readonly error?: string };

const probersThat = (said: Said): Probers => {
  const prober = async () => ({ ...said, timings: { totalMs: 1 } });
  return { http: prober, tcp: prober, grpc: prober, exec: prober };
};
const request: HttpRequest = { kind: 'http', url: 'http://a/', headers: [], hostOverride: '', timeoutMs: 1_000 };
const exec = {
  kind: 'exec',
  command: ['true'],
  target: { namespace: 'default', name: 'a', uid: 'u' },
  container: 'app',
  timeoutMs: 1_000,
} as const;
const keptOf = async (said: Said): Promise<string> =>
  (await withStorableOutput(probersThat(said)).http(request)).output;

describe('a response body is not kept', () => {
  test('of a success', async () => assert.equal(await keptOf({ outcome: 'success', output: 'token=1' }), ''));

  test('of a redirect that was not followed', async () => {
    const output = 'Probe terminated redirects, Response body: token=1';
    assert.equal(await keptOf({ outcome: 'warning', output }), 'Probe terminated redirects');
  });
});

test('the text of a failure is kept', async () => {
  const output = 'HTTP probe failed with statuscode: 503';
  assert.equal(await keptOf({ outcome: 'failure', output }), output);
});

test('the output of a command is kept, cut to 1 KiB and never inside a character', async () => {
  const probers = withStorableOutput(probersThat({ outcome: 'failure', output: `x${'é'.repeat(outputBytesMax)}` }));
  const { output } = await probers.exec(exec);
  assert.equal(output, `x${'é'.repeat(511)}`);
});

test('an error is cut as well', async () => {
  const said = { outcome: 'unknown', output: '', error: 'e'.repeat(2 * outputBytesMax) } as const;
  assert.equal(
    (await withStorableOutput(probersThat(said)).tcp({ ...request, kind: 'tcp', host: 'a', port: 1 })).error?.length,
    outputBytesMax,
  );
});
