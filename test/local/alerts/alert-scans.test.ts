/** When all targets are read for alerts: a while after a start, from time to time, and soon for rules that are new. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localAlerts } from '../../../functions/local/alerts/alerts.ts';
import type { DataDir } from '../../../functions/local/process/data-dir.ts';
import type { Store } from '../../../shared/store/store.ts';
import { rulesOf } from '../../alerts/alert-world.ts';
import { apiWorld } from '../../api/world.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

test('all targets are read soon after rules have changed', async () => {
  const clock = virtualClock();
  let buckets = 0;
  const inner = apiWorld().store;
  const store: Store = {
    ...inner,
    query: (asked) => {
      buckets += 1;
      return inner.query(asked);
    },
  };
  const view = { shard: '00', hashRange: '00-ff', beat: { late: 0 } };
  const ports = {
    ...{ store, clock, random: seededRandom(1), log: recordingLog() },
    bus: { subscribe: () => () => undefined },
    shard: { view: () => view },
    storeProblem: () => undefined,
    openSender: () => ({
      send: async () => ({ kind: 'delivered' }),
      configure: () => undefined,
      close: async () => {},
    }),
  } as unknown as Parameters<typeof localAlerts>[1];
  const alerts = localAlerts({} as DataDir, ports);
  const scansAfter = async (ms: number) => {
    const before = buckets;
    await clock.advance(ms);
    return (buckets - before) / 256;
  };
  const setup = { rules: rulesOf(''), receivers: [] };
  alerts.configure(setup);
  assert.equal(await scansAfter(29_000), 0);
  assert.equal(await scansAfter(2_000), 1);
  assert.equal(await scansAfter(120_000), 0);
  alerts.configure({ ...setup, rules: rulesOf('for: 30s') });
  assert.equal(await scansAfter(6_000), 1);
  assert.equal(await scansAfter(280_000), 0);
  assert.equal(await scansAfter(30_000), 1);
  await clock.runUntil(alerts.stop());
});
