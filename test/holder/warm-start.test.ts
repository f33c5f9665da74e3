import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { phaseOf } from '../../shared/core/kubelet/ticker.ts';
import type { ShardMemory } from '../../shared/holder/shard-run.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { hash32 } from '../../shared/lib/hash32.ts';
import { bucketPk, targetAddress } from '../../shared/store/records/keys.ts';
import { type ShardWorld, shardWorld } from '../support/shard-world.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;

type Gap = {
  readonly periodMs: number;
  /** How long the shard has no holder between two runs of one process. */
  readonly unheldMs: number;
  /** By how much the wall clock is set meanwhile. */
  readonly jumpMs?: number;
  /** How long each probe takes. */
  readonly tookMs?: number;
};

const name = 'target-1';
const bucketOf = (target: string): string => targetAddress('default', target).bucket;

/** When each probe of the second run begins: wall time, and since its start. */
async function beginsAfter({ periodMs, unheldMs, jumpMs = 0, tookMs = 5 }: Gap) {
  const world = shardWorld();
  const { clock } = world;
  const begins: { readonly wallMs: number; readonly sinceStartMs: number }[] = [];
  let startedAtMs = 0;
  world.answer(() => {
    begins.push({ wallMs: clock.nowMs(), sinceStartMs: clock.monotonicMs() - startedAtMs });
    return { outcome: 'failure', ms: tookMs };
  });
  const probe = { tcpSocket: { port: 1 }, periodSeconds: periodMs / 1_000, timeoutSeconds: 3 };
  await world.put(name, { readinessProbe: probe });
  const memory: ShardMemory = new Map();
  const runOf = async (slot: number, ms: number) =>
    clock.runUntil((await world.run({ slot, slotEndMs: clock.nowMs() + ms }, {}, { memory })).ended);
  assert.deepEqual(await runOf(1, minuteMs), { kind: 'slotDone' });
  await clock.advance(unheldMs);
  clock.jump(jumpMs);
  begins.length = 0;
  startedAtMs = clock.monotonicMs();
  assert.deepEqual(await runOf(2, 14 * periodMs), { kind: 'slotDone' });
  return begins;
}

/** Every part of a period, and longer. */
const unheldFor = (periodMs: number): readonly number[] =>
  [0, 0.2, 0.4, 0.6, 0.8, 1.1, 1.3, 2.5].map((periods) => Math.round(periods * periodMs));

describe('a process that holds its shard again after a time without a holder', () => {
  const causes: readonly (readonly [string, Omit<Gap, 'unheldMs'>])[] = [
    ['of a short period', { periodMs: 5_000 }],
    ['of a long period, off its phase', { periodMs: 30_000 }],
    ['that takes long', { periodMs: 5_000, tookMs: 2_000 }],
    ['after the clock was set back', { periodMs: 5_000, jumpMs: -hourMs }],
    ['after the clock was set ahead', { periodMs: 5_000, jumpMs: hourMs }],
  ];
  for (const [what, cause] of causes)
    test(`makes up for a probe ${what}, and the next ones keep their distance`, async () => {
      const { periodMs } = cause;
      const { phaseMs } = phaseOf(hash32(`default/${name}#main#readiness`), periodMs);
      for (const unheldMs of unheldFor(periodMs)) {
        const begins = await beginsAfter({ ...cause, unheldMs });
        const sinceStartMs = begins.map((begun) => begun.sinceStartMs);
        const gaps = sinceStartMs.slice(1).map((beganMs, at) => beganMs - (sinceStartMs[at] ?? 0));
        const shown = `${unheldMs} ms without a holder: ${sinceStartMs.join(', ')}`;
        assert.ok(begins.length >= 12, shown);
        assert.ok(Math.min(...gaps) >= 0.9 * periodMs, shown);
        assert.ok(Math.max(...gaps) <= periodMs + 2_500, shown);
        if (unheldMs > periodMs) assert.equal(sinceStartMs[0], 0, shown);
        assert.equal((begins.at(-1)?.wallMs ?? 0) % periodMs, phaseMs, shown);
      }
    });
});

test('a process that loads its shard for long makes up for what was due meanwhile, and the next probe keeps its distance', async () => {
  const periodMs = 5_000;
  for (let loadMs = 500; loadMs <= 9_500; loadMs += 1_500) {
    let isSlow = false;
    const world: ShardWorld = shardWorld({
      wrapStore: (store) => ({
        ...store,
        async query(query) {
          const items = await store.query(query);
          // The second bucket is read when the worker of the first one has its ticker.
          if (isSlow && query.pk === bucketPk(lastBucket)) await sleep(world.clock, loadMs);
          return items;
        },
      }),
    });
    const begins: number[] = [];
    world.answer((_, port) => {
      if (port === 1) begins.push(world.clock.monotonicMs());
      return 'success';
    });
    const names = ['target-1', 'target-2', 'target-3', 'target-4'].sort((one, other) =>
      bucketOf(one) < bucketOf(other) ? -1 : 1,
    );
    const lastBucket = bucketOf(names.at(-1) ?? '');
    for (const [at, each] of names.entries())
      await world.put(each, { readinessProbe: { tcpSocket: { port: at + 1 }, periodSeconds: periodMs / 1_000 } });
    const first = await world.hold();
    await world.clock.advance(minuteMs + loadMs);
    await first.stop();
    isSlow = true;
    begins.length = 0;
    const run = await world.hold({ cold: true });
    await world.clock.advance(minuteMs);
    const gaps = begins.slice(1).map((beganMs, at) => beganMs - (begins[at] ?? 0));
    assert.ok(Math.min(...gaps) >= 0.9 * periodMs, `${loadMs} ms: ${gaps.join(', ')}`);
    await run.stop();
  }
});
