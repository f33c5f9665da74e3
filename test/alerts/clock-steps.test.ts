/**
 * Alerts while the wall clock is set back and ahead. What is expected is calculated from the monotonic times at which
 * the target turned.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AlertLog, startAlerting } from '../../shared/alerts/alerting.ts';
import { giveUpAfterMs, startDelivery } from '../../shared/alerts/delivery.ts';
import type { KeptAlerts } from '../../shared/alerts/kept-alerts.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { type VirtualClock, virtualClock } from '../support/virtual-clock.ts';
import { rulesOf, sampleNotification, seen } from './alert-world.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const forMs = 2 * minuteMs;
const remindMs = minuteMs;
const windowMs = 5_000;
/** Two ticks, and what a step of the clock costs that comes right before or after a change. */
const slackMs = 7_000;

const step = fc.constantFrom(-24 * hourMs, -hourMs, -10_000, 10_000, hourMs, 48 * hourMs);
const event = fc.oneof(
  fc.record({ kind: fc.constant('step' as const), byMs: step }),
  fc.record({ kind: fc.constant('restart' as const) }),
);
const episode = fc.record({
  /** Shorter than `for`, or long enough for some reminders. */
  downS: fc.constantFrom(60, 90, 200, 330),
  /** Before it turns, and between its turn and the event that reports it. */
  stepBeforeMs: fc.option(step, { nil: 0 }),
  stepBetweenMs: fc.option(step, { nil: 0 }),
  events: fc.array(fc.record({ atS: fc.integer({ min: 8, max: 320 }), event }), { maxLength: 3 }),
});

type Episode = typeof episode extends fc.Arbitrary<infer Value> ? Value : never;
type Arrived = { readonly kind: string; readonly atMs: number };

/** Alerts with one receiver, which can be restarted. */
function alertsOf(clock: VirtualClock) {
  const arrived: Arrived[] = [];
  let kept: KeptAlerts | undefined;
  const alertLog: AlertLog = {
    load: async () => kept,
    save: async (next) => {
      kept = JSON.parse(JSON.stringify(next));
    },
    setAside: async () => undefined,
  };
  const start = () =>
    startAlerting(
      { rules: rulesOf('for: 2m, remind: 1m'), receivers: ['ops'] },
      {
        clock,
        random: seededRandom(1),
        log: recordingLog(),
        alertLog,
        send: async (_, { kind }) => {
          arrived.push({ kind, atMs: clock.monotonicMs() });
          return { kind: 'delivered' };
        },
      },
    );
  let alerting = start();
  return {
    arrived,
    offer: (...inputs: Parameters<typeof alerting.offer>) => alerting.offer(...inputs),
    stop: () => alerting.stop(),
    restart: async () => {
      await clock.runUntil(alerting.stop());
      alerting = start();
    },
  };
}

function assertArrived(arrived: readonly Arrived[], downMs: number, upMs: number): void {
  const lastedMs = upMs - downMs;
  const reminders = Math.floor((lastedMs - forMs - windowMs) / remindMs);
  const expected = [
    { kind: 'firing', atMs: downMs + forMs + windowMs },
    ...Array.from({ length: reminders }, (_, index) => {
      return { kind: 'reminder', atMs: downMs + forMs + windowMs + (index + 1) * remindMs };
    }),
    { kind: 'resolved', atMs: upMs + windowMs },
  ].filter(() => lastedMs > forMs);
  const text = JSON.stringify({ arrived, expected });
  assert.deepEqual(
    arrived.map(({ kind }) => kind),
    expected.map(({ kind }) => kind),
    text,
  );
  for (const [index, { atMs }] of expected.entries())
    assert.ok(Math.abs((arrived[index]?.atMs ?? 0) - atMs) <= slackMs, text);
}

async function play(episodes: readonly Episode[]): Promise<void> {
  const clock = virtualClock();
  const alerts = alertsOf(clock);
  const turn = async (ready: 'True' | 'False', betweenMs: number) => {
    const sinceMs = clock.nowMs();
    clock.jump(betweenMs);
    await clock.advance(500);
    alerts.offer(seen('db', ready, { sinceMs }));
  };
  for (const { downS, stepBeforeMs, stepBetweenMs, events } of episodes) {
    clock.jump(stepBeforeMs);
    await clock.advance(10_000);
    alerts.arrived.length = 0;
    const downMs = clock.monotonicMs();
    await turn('False', stepBetweenMs);
    for (const { atS, event: each } of events.filter(({ atS }) => atS < downS).toSorted((a, b) => a.atS - b.atS)) {
      await clock.advance(Math.max(0, downMs + atS * 1_000 - clock.monotonicMs()));
      if (each.kind === 'step') clock.jump(each.byMs);
      else await alerts.restart();
      // A step right before the process ends is not noticed.
      await clock.advance(2_000);
    }
    await clock.advance(Math.max(0, downMs + downS * 1_000 - clock.monotonicMs()));
    const upMs = clock.monotonicMs();
    await turn('True', 0);
    await clock.advance(minuteMs);
    assertArrived(alerts.arrived, downMs, upMs);
  }
  await clock.runUntil(alerts.stop());
}

test('for, windows and reminders take as long as they say, whatever the wall clock shows', () =>
  fc.assert(fc.asyncProperty(fc.array(episode, { minLength: 1, maxLength: 2 }), play), { numRuns: 100 }));

const outage = fc.record({
  outageH: fc.constantFrom(1, 12, 23, 26),
  steps: fc.array(fc.record({ afterH: fc.integer({ min: 0, max: 10 }), byMs: step, isRestart: fc.boolean() }), {
    maxLength: 4,
  }),
});

test('a notification is given up when its receiver has failed for a day, whatever the wall clock shows', () =>
  fc.assert(
    fc.asyncProperty(outage, async ({ outageH, steps }) => {
      const clock = virtualClock();
      let isDelivered = false;
      const ports = {
        clock,
        random: seededRandom(1),
        log: recordingLog(),
        onChange: () => undefined,
        send: async () => {
          if (clock.monotonicMs() < outageH * hourMs) return { kind: 'failed', why: 'status 503' } as const;
          isDelivered = true;
          return { kind: 'delivered' } as const;
        },
      };
      let delivery = startDelivery(['ops'], {}, ports);
      delivery.add(sampleNotification());
      delivery.release();
      for (const { afterH, byMs, isRestart } of steps) {
        await clock.advance(afterH * hourMs);
        clock.jump(byMs);
        if (!isRestart) continue;
        await clock.runUntil(delivery.stop());
        delivery = startDelivery(['ops'], JSON.parse(JSON.stringify(delivery.outbox())), ports);
        delivery.release();
      }
      await clock.advance(40 * hourMs);
      assert.equal(isDelivered, outageH * hourMs < giveUpAfterMs);
      assert.deepEqual(delivery.outbox(), {});
      await clock.runUntil(delivery.stop());
    }),
    { numRuns: 30 },
  ));
