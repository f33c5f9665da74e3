/** Tick mode as a whole: schedule, queue in process and host, for many minutes of virtual time. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { staleSinceMs } from '../../shared/api/targets/freshness.ts';
import { functionCapacity } from '../../shared/core/shards/layout.ts';
import { hostShards } from '../../shared/holder/host.ts';
import { runReceived } from '../../shared/holder/receipt.ts';
import type { RunEnd } from '../../shared/holder/run.ts';
import type { ShardMemory } from '../../shared/holder/shard-run.ts';
import { inProcessQueue } from '../../shared/queue/in-process.ts';
import { runSchedule } from '../../shared/schedule/schedule.ts';
import { testsIn } from '../support/tests-in.ts';
import { minuteMs, tcp, tickWorld } from './tick-world.ts';

type Ended = { readonly end: RunEnd; readonly tookMs: number };

function hostedWorld({ isWarm = true, mode = 'auto' as 'auto' | 'tick' } = {}) {
  const world = tickWorld();
  const { clock, store, bus, random, log } = world;
  const queue = inProcessQueue({ clock, visibilityMs: 15_000, retentionMs: 3_600_000 });
  const ended: Ended[] = [];
  let crashes = 0;
  const memory: ShardMemory = new Map();
  const host = () => {
    const stop = new AbortController();
    const hosting = hostShards({
      clock,
      log,
      receiver: queue,
      concurrency: 2,
      stop: stop.signal,
      portsFor: (lease) => ({ ...world.ports(), lease }),
      async runShard(ports, message, deadlineMs, options) {
        const beganAtMs = clock.nowMs();
        if (crashes > 0) {
          crashes -= 1;
          return new Promise(() => {});
        }
        const end = await runReceived(ports, message, deadlineMs, { ...options, memory: isWarm ? memory : new Map() });
        ended.push({ end, tookMs: clock.nowMs() - beganAtMs });
        return end;
      },
    });
    return async () => {
      stop.abort();
      await clock.runUntil(hosting);
    };
  };
  const schedule = () => runSchedule({ store, queue, bus, clock, random, log }, { capacity: functionCapacity, mode });
  return {
    ...world,
    host,
    ended,
    /** The next run is not heard of again, and takes its lane with it. */
    crashNext: () => {
      crashes += 1;
    },
    /** Minutes, in each of which the schedule runs so late; undefined: not at all. */
    async minutes(lateMs: readonly (number | undefined)[]): Promise<void> {
      for (const late of lateMs) {
        await clock.advance(late ?? 0);
        if (late !== undefined) await clock.runUntil(schedule());
        await clock.advance(minuteMs - (late ?? 0));
      }
    },
    async said(name: string) {
      return (await world.shown(name)).probes.map(({ result, reason }) => reason ?? result);
    },
  };
}

const gaps = (times: readonly number[]) => times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));

for (const isWarm of [true, false])
  describe(`a shard in tick mode, ${isWarm ? 'warm' : 'cold'} each minute`, () => {
    const inHosted = testsIn(() => hostedWorld({ isWarm }));
    inHosted('probes once a period, with short runs, however late each minute’s schedule is', async (world) => {
      for (const name of ['a', 'b', 'c']) await world.put(name, { readinessProbe: tcp(60) });
      const stop = world.host();
      await world.minutes(Array.from({ length: 30 }, (_, minute) => 5_000 + ((minute * 7_000) % 20_000)));
      await stop();
      const runs = world.ended.filter(({ end }) => end.kind !== 'stale');
      assert.equal(runs.length, 30);
      assert.ok(runs.every(({ end }) => end.kind === 'slotDone'));
      assert.ok(runs.every(({ tookMs }) => tookMs < 20_000));
      const times = world.takeProbed().map(({ atMs }) => atMs);
      assert.equal(times.length, 90);
      const between = gaps(times.filter((_, at) => at % 3 === 0));
      assert.ok(Math.min(...between) >= 53_900 && Math.max(...between) < 81_000, between.join(' '));
      assert.equal(world.clock.pending(), 0);
    });

    inHosted('shows fresh results between its runs, and no longer three minutes after the last', async (world) => {
      await world.put('a', { readinessProbe: tcp(60) });
      const stop = world.host();
      for (let minute = 0; minute < 10; minute += 1) {
        await world.minutes([1_000]);
        assert.deepEqual(await world.said('a'), ['success']);
      }
      await world.minutes([undefined, undefined]);
      assert.deepEqual(await world.said('a'), ['success']);
      await world.minutes([undefined, undefined]);
      assert.deepEqual(await world.said('a'), ['Late']);
      await world.minutes([1_000]);
      assert.deepEqual(await world.said('a'), ['success']);
      await stop();
    });

    inHosted('detects within its threshold, asks for a restart, and reaches its subscribers', async (world) => {
      await world.put('a', { livenessProbe: tcp(60, { failureThreshold: 3 }) });
      const stop = world.host();
      await world.minutes([1_000, 1_000]);
      world.answers(() => 'failure');
      await world.minutes([1_000, 1_000, 1_000]);
      assert.equal((await world.status('a')).status.containerStatuses[0]?.ready, false);
      assert.equal(world.publishedEvents('Container Restart Requested').length, 1);
      await stop();
    });

    inHosted('without a run is published as NoHolder only after four minutes', async (world) => {
      await world.put('a', { readinessProbe: tcp(60) });
      const stop = world.host();
      await world.minutes([1_000, 1_000]);
      const publishedEvents = () => world.published.filter((event) => event['detail-type'].startsWith('Prober')).length;
      await world.minutes([undefined, undefined, undefined, 1_000]);
      assert.equal(publishedEvents(), 0, 'a beat is old after three minutes and published a minute later');
      const { doneSlot, slot } = await world.runRecord();
      assert.equal(doneSlot, slot);
      await stop();
      await world.minutes([1_000, 1_000, 1_000, 1_000, 1_000, 1_000]);
      assert.ok(publishedEvents() > 0);
    });
  });

test('a run that crashes is made up for in its minute', async () => {
  const world = hostedWorld();
  await world.put('a', { readinessProbe: tcp(60) });
  world.host();
  await world.minutes([1_000]);
  world.crashNext();
  await world.minutes([1_000, 1_000]);
  const between = gaps(world.takeProbed().map(({ atMs }) => atMs));
  const gapSeconds = between.map((ms) => Math.round(ms / 1_000));
  assert.deepEqual(gapSeconds, [75, 54]);
});

test('a target that asks for less than a minute makes its shard resident, unless tick mode is asked for', async () => {
  for (const mode of ['auto', 'tick'] as const) {
    const world = hostedWorld({ mode });
    await world.put('a', { readinessProbe: tcp(10) });
    const stop = world.host();
    await world.minutes([1_000, 1_000, 1_000]);
    const probes = world.takeProbed().length;
    assert.ok(mode === 'auto' ? probes >= 17 : probes === 3, `${mode}: ${probes}`);
    assert.deepEqual(await world.said('a'), ['success'], 'as fresh as it can be');
    await stop();
  }
});

test('what is in tick mode is as fresh as its slots let it be', () => {
  const freshness = { observed: { observedAtMs: 0, behind: {} }, degraded: false };
  const shown = { name: 'a', periodSeconds: 10, sinceMs: 0, nowMs: 100_000 };
  const isStale = [true, false].map((tick) => staleSinceMs({ ...freshness, tick }, shown) !== undefined);
  assert.deepEqual(isStale, [false, true]);
});
