import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { phaseOf } from '../../../shared/core/kubelet/ticker.ts';
import { planTick, type TickProbe, type TickSlot } from '../../../shared/core/shards/tick-plan.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const minuteMs = 60_000;
const base = { isPending: false, timeoutMs: 1_000, cpuMs: 0.2 };
/** An instant so far after each whole minute. */
const every = (periodSeconds: number, phaseMs: number): TickProbe => ({
  ...base,
  phased: phaseOf(phaseMs, periodSeconds * 1_000),
});
const slotFrom = (minute: number, lateMs = 0): TickSlot => ({
  fromMs: minute * minuteMs,
  toMs: (minute + 1) * minuteMs,
  nowMs: minute * minuteMs + lateMs,
});
const planOne = (probe: TickProbe, slot: TickSlot) => planTick([probe], slot)[0];

describe('a run of a slot', () => {
  test('does not wait for the instants of its slot', () =>
    assert.equal(planOne(every(60, 59_000), slotFrom(1_000, -30_000)), 1_000 * minuteMs - 30_000));

  test('leaves what has no instant in it to another run', () => {
    const begins = [0, 1, 2].map((minute) => planOne(every(180, 70_000), slotFrom(999 + minute)));
    assert.deepEqual(begins, [undefined, 1_000 * minuteMs, undefined]);
  });

  test('has what had its instant in slots that no run has done, once', () => {
    const missed = { ...slotFrom(1_000), fromMs: 990 * minuteMs };
    assert.deepEqual(planTick([every(60, 0), every(3_600, 100_000)], missed), [1_000 * minuteMs, undefined]);
    assert.deepEqual(planOne(every(600, 120_000), missed), 1_000 * minuteMs);
  });

  test('begins what is owed first, the others in the order of their instants, a tenth of a vCPU at a time', () => {
    const [late, early] = [every(60, 50_000), every(60, 10_000)].map((probe) => ({ ...probe, cpuMs: 2 }));
    assert.ok(late && early);
    const begins = planTick([late, early, { ...every(3_600, 0), isPending: true, cpuMs: 10 }], slotFrom(1_001));
    const offsetsMs = begins.map((beginMs) => (beginMs ?? 0) - 1_001 * minuteMs);
    assert.deepEqual(offsetsMs, [120, 100, 0]);
  });

  test('begins in haste what would not fit into the rest of its slot', () => {
    const many = Array.from({ length: 10_000 }, (_, at) => ({ ...every(60, at), cpuMs: 2 }));
    const begins = planTick(many, slotFrom(1_000, 30_000));
    const lastMs = Math.max(...begins.map((beginMs) => beginMs ?? 0));
    assert.ok(lastMs > 1_000 * minuteMs + 44_000 && lastMs <= 1_000 * minuteMs + 45_000);
  });

  test('waits where another process had the instant before a short while ago', () => {
    const before = { slotBeginMs: 999 * minuteMs, beganAtMs: 999 * minuteMs + 40_000 };
    const slot = { ...slotFrom(1_000), before };
    assert.equal(planOne(every(60, 0), slot), before.beganAtMs + 54_000);
    assert.equal(planOne(every(120, 0), slot), slot.nowMs, 'its last instant was in an earlier slot');
  });

  test('leaves to the next run what is too soon for an end within its slot', () => {
    const probedAtMs = 999 * minuteMs + 50_000;
    const begins = [15_000, 16_000, 17_000].map((timeoutMs) =>
      planOne({ ...every(60, 0), probedAtMs, timeoutMs }, slotFrom(1_000)),
    );
    const soonestMs = probedAtMs + 54_000;
    assert.deepEqual(begins, [soonestMs, soonestMs, undefined]);
  });

  test('takes no begin of a clock that was set back', () => {
    const probe = { ...every(60, 0), probedAtMs: 2_000 * minuteMs };
    assert.equal(planOne(probe, slotFrom(1_000)), 1_000 * minuteMs);
  });
});

/** Slot after slot in one process: when this probe begins. */
function beginsOf(probe: TickProbe, slots: readonly TickSlot[]): readonly number[] {
  const begins: number[] = [];
  for (const slot of slots) {
    const probedAtMs = begins.at(-1);
    const beginMs = planOne({ ...probe, ...(probedAtMs !== undefined && { probedAtMs }) }, slot);
    if (beginMs !== undefined) begins.push(beginMs);
  }
  return begins;
}

const gapsOf = (begins: readonly number[]) => begins.slice(1).map((beginMs, at) => beginMs - (begins[at] ?? 0));

describe('from slot to slot two probes are at least 0.9 period apart', () => {
  const random = seededRandom(7);
  for (const lateMsMax of [0, 5_000, 25_000])
    for (const periodSeconds of [10, 60, 61, 90, 119, 120, 150, 300, 601, 3_600])
      test(`and not much more than one: every ${periodSeconds} s, runs up to ${lateMsMax / 1_000} s late`, () => {
        const probe = every(periodSeconds, Math.floor(random.next() * periodSeconds * 1_000));
        const leadMs = Math.floor(random.next() * minuteMs) - 30_000;
        const slots = Array.from({ length: 1_000 }, (_, minute) => {
          const lateMs = Math.min(leadMs + random.next() * lateMsMax, 30_000);
          return slotFrom(1_000 + minute, Math.floor(lateMs));
        });
        const gaps = gapsOf(beginsOf(probe, slots));
        const periodMs = Math.max(periodSeconds, 60) * 1_000;
        assert.ok(gaps.length > (900 * minuteMs) / (1.1 * periodMs), `${gaps.length} probes`);
        assert.ok(Math.min(...gaps) >= 0.9 * (periodSeconds * 1_000), `${Math.min(...gaps)} ms`);
        const roundedUpMs = Math.ceil(periodMs / minuteMs) * minuteMs;
        assert.ok(Math.max(...gaps) <= roundedUpMs + lateMsMax, `${Math.max(...gaps)} ms`);
      });

  test('after a missed slot the way back costs no gap of two periods', () => {
    for (let phaseMs = 0; phaseMs < 300_000; phaseMs += 10_000)
      for (const leadMs of [-25_000, 0, 25_000]) {
        const minutes = Array.from({ length: 60 }, (_, at) => at + 1_000).filter((minute) => minute !== 1_020);
        const slots = minutes.map((minute) => {
          const slot = slotFrom(minute, leadMs);
          return minute === 1_021 ? { ...slot, fromMs: 1_020 * minuteMs } : slot;
        });
        const gaps = gapsOf(beginsOf(every(300, phaseMs), slots));
        assert.ok(Math.max(...gaps) <= 360_000, `${Math.max(...gaps)} ms`);
        assert.ok(Math.min(...gaps) >= 270_000, `${Math.min(...gaps)} ms`);
      }
  });
});
