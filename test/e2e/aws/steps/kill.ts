/** The prober's process is killed without a hand-over: its message is delivered again when its visibility ends. */
import assert from 'node:assert/strict';
import { type Figure, unjudged } from '../../../support/figures.ts';
import { until } from '../../../support/wait.ts';
import { type Cloud, functionParts, receivedOf } from '../cloud.ts';
import type { WebServer } from '../servers.ts';

/** The rest of the lease, 15 s at most, then start, claim and load. */
const resumedMsMax = 30_000;
/** What was on its way to the server when the prober was killed. */
const inFlightMs = 200;

export async function proberKilled(cloud: Cloud, { seen }: Pick<WebServer, 'seen'>): Promise<readonly Figure[]> {
  const pid = cloud.emulator.pid(functionParts.prober);
  process.kill(pid, 'SIGKILL');
  const killedMs = Date.now();
  const resumed = await until('targets are probed again', resumedMsMax, () =>
    seen.find(({ atMs }) => atMs > killedMs + inFlightMs),
  );
  assert.notEqual(cloud.emulator.pid(functionParts.prober), pid);
  requireNoFailures(cloud, killedMs);
  return [unjudged('not probed after SIGKILL', `${((resumed.atMs - killedMs) / 1_000).toFixed(1)} s`)];
}

/** No target has failed, so no failure may be published. */
export function requireNoFailures(cloud: Cloud, sinceMs: number): void {
  const failures = receivedOf(cloud, 'Probe Result Changed').filter(
    ({ receivedAtMs, event }) => receivedAtMs > sinceMs && event.detail.result !== 'success',
  );
  assert.deepEqual(failures, []);
}
