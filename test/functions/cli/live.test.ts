/** The command line against the whole product, which probes in real time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRuntime } from '../../../functions/local/runtime.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { freePort } from '../../support/free-port.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { ranCli } from './run.ts';
import { served } from './served.ts';

test('a target that is down is seen by wait, get, probe and events', async (t) => {
  const runtime = startRuntime(
    { dataDir: ':memory:' },
    { clock: systemClock, random: systemRandom, log: recordingLog() },
  );
  t.after(() => runtime.stop());
  await runtime.shard.loaded;
  const url = await served(runtime.fetch);
  const run = (...args: readonly string[]) => ranCli(args, { env: { PROBELET_URL: url }, clock: systemClock });
  const readinessProbe = { tcpSocket: { port: await freePort() }, periodSeconds: 1, failureThreshold: 1 };
  await runtime.fetch(
    new Request(`${url}/v1/namespaces/default/targets/db`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ spec: { host: '127.0.0.1', readinessProbe } }),
    }),
  );
  const waited = await run('wait', 'target/db', '--for=condition=Ready=False', '--timeout', '20s');
  assert.deepEqual(waited, { code: 0, out: 'target/db condition met\n', err: [] });
  assert.match((await run('get', 'targets')).out, /^NAME {3}READY .*\ndb +0\/1 +Running +0 +\d+s\n$/);
  assert.match((await run('get', 'probes', '-o', 'wide')).out, /readiness +failure +\w+ .*connection refused/);
  assert.match((await run('events', 'db')).out, /Unhealthy +target\/db +Readiness probe failed: dial tcp 127\.0\.0\.1/);
  const probed = await run('probe', 'target/db');
  assert.equal(probed.code, 0, probed.err[0]);
  assert.match(probed.out, /readiness +failure/);
});
