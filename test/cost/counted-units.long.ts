/** The table's units of steady shards, as the engine takes them, beside those that the estimate reckons with. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { residentSlotMs } from '../../shared/core/shards/slots.ts';
import { estimateCost } from '../../shared/cost/estimate.ts';
import { minuteMs, tcp, tickWorld } from '../holder/tick-world.ts';
import { probedWorld } from '../support/shard-world.ts';
import { type CountedUnits, unitCounter } from '../support/unit-counter.ts';

const monthMs = 730 * 60 * minuteMs;

/**
 * Counted by estimated. Hashes put these targets into slightly more buckets or fewer than expected. The estimate of
 * tick mode has a new process each hour, which claims all of them.
 */
const writesWithin = { resident: [0.85, 1.05], tick: [0.5, 1.05] } as const;
/** The estimate reckons with larger targets. */
const readsWithin = [0.5, 1.05] as const;

function requireEstimated(
  counted: CountedUnits,
  targets: number,
  { mode, ms }: { mode: 'resident' | 'tick'; ms: number },
): void {
  const periodSeconds = mode === 'tick' ? 60 : 10;
  const fleet = [{ targets, periodSeconds, probe: 'tcp' as const }];
  const input = { fleet, mode, memorySize: 256, alarms: 0, metrics: 0, dashboard: false };
  const { writes, reads } = estimateCost(input).steadyUnits;
  const estimated = { writes: (writes * ms) / monthMs, reads: (reads * ms) / monthMs };
  const shown = JSON.stringify({ counted, estimated });
  const isWithin = (share: number, [min, max]: readonly [number, number]) => share >= min && share <= max;
  assert.ok(isWithin(counted.writes / estimated.writes, writesWithin[mode]), shown);
  assert.ok(isWithin(counted.reads / estimated.reads, readsWithin), shown);
}

describe('the units that the estimate reckons with', () => {
  for (const targets of [20, 200, 500])
    test(`are those of a slot of ${targets} targets that begins in another process`, async () => {
      const units = unitCounter();
      const world = await probedWorld({ targets, wrapStore: units.wrap });
      const slot = async (number: number) => {
        const run = await world.run({ slot: number, slotEndMs: world.clock.nowMs() + residentSlotMs });
        await world.clock.runUntil(run.ended);
      };
      await slot(1);
      units.taken();
      await slot(2);
      requireEstimated(units.taken(), targets, { mode: 'resident', ms: residentSlotMs });
    });

  test('are those that the emulator counts in ten minutes with one take-over', () => {
    const text = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
    const [, targets, writes, reads] =
      /^\| (\d+) targets with one readiness probe at 10 s, ten minutes .* \| ([\d.]+) written, ([\d.]+) read \|$/m.exec(
        text,
      ) ?? [];
    const probes = Number(targets) * ((10 * minuteMs) / 10_000);
    const counted = { writes: Number(writes) * probes, reads: Number(reads) * probes };
    // These ten minutes have the take-over of a whole slot, and the reads of the schedule.
    requireEstimated(counted, Number(targets), { mode: 'resident', ms: residentSlotMs });
  });

  test('are those of ten ticks in one process', async () => {
    const [targets, minutes] = [60, 10];
    const units = unitCounter();
    const world = tickWorld({ wrapStore: units.wrap });
    for (let at = 0; at < targets; at += 1) await world.put(`target-${at}`, { readinessProbe: tcp(60) });
    await world.lay();
    const tick = async () => {
      await world.toMinute(1_000);
      const run = await world.clock.runUntil(world.begin());
      assert.equal(run.kind, 'slotDone');
    };
    for (let minute = 0; minute < 3; minute += 1) await tick();
    units.taken();
    // What the test itself reads for each run, as the schedule.
    await world.lay();
    await world.message();
    const { reads: others } = units.taken();
    for (let minute = 0; minute < minutes; minute += 1) await tick();
    const { writes, reads } = units.taken();
    requireEstimated({ writes, reads: reads - minutes * others }, targets, { mode: 'tick', ms: minutes * minuteMs });
  });
});
