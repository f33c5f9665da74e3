import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProbeRequest } from '../../shared/prober/prober.ts';
import { probers } from '../../shared/prober/registry.ts';

test('each kind of request goes to its prober', async () => {
  const named = (name: string) => async (request: ProbeRequest) =>
    ({ outcome: 'success', output: `${name} ${request.kind}`, timings: { totalMs: 0 } }) as const;
  const probe = probers({ http: named('http'), tcp: named('tcp'), grpc: named('grpc'), exec: named('exec') });
  const rest = { timeoutMs: 1000, host: 'a', port: 1 };
  const target = { namespace: 'default', name: 'a', uid: 'u' };
  const requests: readonly ProbeRequest[] = [
    { kind: 'http', url: 'http://a/', headers: [], hostOverride: '', timeoutMs: 1000 },
    { kind: 'tcp', ...rest },
    { kind: 'grpc', ...rest, service: '' },
    { kind: 'exec', command: ['true'], target, container: 'main', timeoutMs: 1000 },
  ];
  const attempts = await Promise.all(requests.map(probe));
  assert.deepEqual(
    attempts.map(({ output }) => output),
    ['http http', 'tcp tcp', 'grpc grpc', 'exec exec'],
  );
});
