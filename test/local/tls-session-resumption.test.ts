/** The option of a process that probes: off without it, and one cache for all runs with it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { localProbing, type ProbingOptions } from '../../functions/local/process/probing.ts';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { resumingServer } from '../support/resuming-server.ts';

/** Probes a server in two runs, and says which handshakes were resumed. */
async function resumedBy(t: TestContext, options: Pick<ProbingOptions, 'tlsSessionResumption'>) {
  const { port, resumed } = await resumingServer(t);
  const probing = localProbing({ clock, log: recordingLog(), ...options });
  t.after(() => probing.close());
  const url = `https://127.0.0.1:${port}/`;
  for (const { probers, abandon } of [probing.forRun(), probing.forRun()]) {
    await probers.http({ kind: 'http', url, headers: [], hostOverride: '', timeoutMs: 60_000 });
    abandon();
  }
  return resumed;
}

test('a process resumes no TLS session', async (t) => assert.deepEqual(await resumedBy(t, {}), [false, false]));

test('with --tls-session-resumption a run resumes the sessions of the run before', async (t) =>
  assert.deepEqual(await resumedBy(t, { tlsSessionResumption: true }), [false, true]));
