import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clockOf, type Life, startScheduler } from './clock.ts';

const newLife = (): Life => ({
  name: 'p-1.1',
  role: 'p',
  alive: true,
  pausedUntilMs: 0,
  timersFirst: true,
  skewMs: 0,
});

const noChance = { next: () => 0.5 };

describe('the virtual clock', () => {
  test('a timer that came due during a pause can be cancelled until the process goes on', async () => {
    const scheduler = startScheduler(noChance);
    const life = newLife();
    const clock = clockOf(scheduler, life);
    const ran: string[] = [];
    const cancelLater = clock.setTimer(20, () => ran.push('cancelled'));
    clock.setTimer(10, () => {
      ran.push('first');
      cancelLater();
    });
    life.pausedUntilMs = 100;
    await scheduler.runUntil(99);
    assert.deepEqual(ran, []);
    await scheduler.runUntil(200);
    assert.deepEqual(ran, ['first']);
  });

  test('what was sent arrives at its time, and its answer waits for a paused process', async () => {
    const scheduler = startScheduler(noChance);
    const life = newLife();
    life.pausedUntilMs = 100;
    const seen: string[] = [];
    scheduler.after(10, {
      label: 'call',
      life,
      kind: 'answer',
      effect: () => seen.push(`effect at ${scheduler.nowMs()}`),
      deliver: () => seen.push(`answer at ${scheduler.nowMs()}`),
    });
    await scheduler.runUntil(200);
    assert.deepEqual(seen, ['effect at 10', 'answer at 100']);
  });

  test('what a step throws is thrown to whoever lets the time pass', async () => {
    const scheduler = startScheduler(noChance);
    scheduler.after(1, {
      label: 'broken',
      deliver: () => {
        throw new Error('broken');
      },
    });
    await assert.rejects(scheduler.runUntil(10), /broken/);
  });
});
