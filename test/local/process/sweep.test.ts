import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sweepRegularly } from '../../../functions/local/process/sweep.ts';
import { StoreUnavailable } from '../../../shared/store/store.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const intervalMs = 600_000;

test('more expired items than one sweep removes are gone within seconds, not hours', async () => {
  const clock = virtualClock();
  let expired = 4_500;
  const sweep = (_nowMs: number, limit: number) => {
    const removed = Math.min(expired, limit);
    expired -= removed;
    return removed;
  };
  const stop = sweepRegularly({ clock, log: recordingLog(), sweep });
  await clock.advance(intervalMs + 5_000);
  assert.equal(expired, 0);
  stop();
  assert.equal(clock.pending(), 0);
});

test('a full disk while expired items are removed does not end the process', async () => {
  const clock = virtualClock();
  const log = recordingLog();
  let sweeps = 0;
  const sweep = () => {
    sweeps += 1;
    throw new StoreUnavailable('database or disk is full');
  };
  const stop = sweepRegularly({ clock, log, sweep });
  await clock.advance(2 * intervalMs);
  stop();
  assert.equal(sweeps, 2);
  const logged = log.lines.map(({ level, message }) => `${level}: ${message}`);
  assert.deepEqual(logged, Array(2).fill('warn: expired items not removed'));
});
