/** How soon alerts are kept again after a write: soon, or a second later where the disk took nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAlerting } from '../../shared/alerts/alerting.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { rulesOf, seen } from './alert-world.ts';

/** Nothing here has I/O, so promises alone have to settle. */
const quiet = async () => {
  for (let turn = 0; turn < 60; turn += 1) await undefined;
};

const rows = [
  ['that was made', 0, false, 200],
  ['that failed', 0, true, 1_000],
  ['that took 100 ms', 100, false, 1_000],
  ['that took 3 s', 3_000, false, 13_000],
] as const;

for (const [what, tookMs, isFull, restMs] of rows)
  test(`the next write begins ${restMs} ms after one ${what}`, async () => {
    const clock = virtualClock({ quiet });
    const savedMs: number[] = [];
    const alertLog = {
      load: async () => undefined,
      async save() {
        savedMs.push(clock.monotonicMs());
        await sleep(clock, tookMs);
        if (isFull) throw new Error('ENOSPC: no space left on device, write');
      },
      setAside: async () => undefined,
    };
    const send = async () => ({ kind: 'delivered' }) as const;
    const ports = { clock, random: seededRandom(1), log: recordingLog(), send, alertLog };
    const alerting = startAlerting({ rules: rulesOf(''), receivers: ['ops'] }, ports);
    await clock.advance(1);
    alerting.offer(seen('one', 'False', { sinceMs: clock.nowMs() }));
    await clock.advance(1);
    alerting.offer(seen('other', 'False', { sinceMs: clock.nowMs() }));
    await clock.advance(20_000);
    const [first = 0, second = 0] = savedMs;
    assert.equal(second - first, restMs);
    await clock.runUntil(alerting.stop());
  });
