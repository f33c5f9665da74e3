import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type Capacity,
  functionCapacity,
  isWhole,
  type Layout,
  type LayoutContext,
  mergeBelow,
  patienceMs,
  planLayout,
  splitAbove,
  tickTargetsMax,
} from '../../../shared/core/shards/layout.ts';
import { type BucketWeight, noWeight, probeBytes, sumOf, weightOf } from '../../../shared/core/shards/weight.ts';
import { column, columns } from '../../support/columns.ts';
import { specOf, tcpProbe } from '../../support/pods.ts';

const capacity: Capacity = { cpu: 1, sockets: 100, memory: 1_000_000 };
const context = (nowMs: number, more: Partial<LayoutContext> = {}): LayoutContext => ({
  nowMs,
  capacity,
  mode: 'auto',
  ...more,
});
const nothing: Layout = { version: 0, shards: [] };
const empty: readonly BucketWeight[] = Array.from({ length: 256 }, () => noWeight);

/** Every bucket the same, so that all of them together are this share of the CPU. */
const evenly = (cpu: number): readonly BucketWeight[] =>
  empty.map(() => ({ targets: 1, cpu: cpu / 256, sockets: 0, memory: 0, mode: 'resident' }));

const withBucket = (buckets: readonly BucketWeight[], at: number, weight: Partial<BucketWeight>) =>
  buckets.map((bucket, index) => (index === at ? { ...bucket, ...weight } : bucket));

const shape = ({ shards }: Layout) => shards.map(({ shard, from, to, mode }) => [shard, from, to, mode]);
const loadOf = ({ from, to }: { from: number; to: number }, buckets: readonly BucketWeight[]) => {
  const { cpu, sockets } = sumOf(buckets.slice(from, to));
  return Math.max(cpu / capacity.cpu, sockets / capacity.sockets);
};

const minuteMs = 60_000;

/** The layout after each of these minutes, every one with these buckets. */
function afterMinutes(layout: Layout, buckets: readonly BucketWeight[], minutes: number, fromMs = 0): Layout {
  let next = layout;
  for (let minute = 0; minute <= minutes; minute += 1)
    next = planLayout(next, buckets, context(fromMs + minute * minuteMs));
  return next;
}

describe('a layout', () => {
  test('without targets is one idle shard', () => {
    assert.deepEqual(planLayout(nothing, empty, context(5)), {
      version: 1,
      shards: [{ shard: '00', from: 0, to: 256, generation: 1, mode: 'idle', sinceMs: 5 }],
    });
  });

  test('that fits stays the very same object', () => {
    const layout = planLayout(nothing, evenly(0.5), context(0));
    assert.equal(planLayout(layout, evenly(0.6), context(minuteMs)), layout);
  });

  test('splits at once above 70 % and names the upper part by its first bucket', () => {
    const layout = planLayout(nothing, evenly(0.6), context(0));
    const split = planLayout(layout, evenly(0.8), context(minuteMs));
    assert.deepEqual(shape(split), [
      ['00', 0, 128, 'resident'],
      ['80', 128, 256, 'resident'],
    ]);
    assert.deepEqual(column(split.shards, 'generation'), [split.version, split.version]);
  });

  test('splits where the heavier part is lightest', () => {
    const buckets = withBucket(withBucket(withBucket(empty, 19, { cpu: 0.2 }), 20, { cpu: 0.6 }), 30, { cpu: 0.05 });
    assert.deepEqual(columns(planLayout(nothing, buckets, context(0)).shards, 'from', 'to'), [
      [0, 20],
      [20, 256],
    ]);
  });

  test('splits off the last bucket alone, or the first one, where that is lightest', () => {
    const heavy = (at: number, next: number) =>
      planLayout(nothing, withBucket(withBucket(evenly(0.05), at, { cpu: 0.6 }), next, { cpu: 0.3 }), context(0));
    assert.deepEqual(shape(heavy(255, 254)), [
      ['00', 0, 255, 'resident'],
      ['ff', 255, 256, 'resident'],
    ]);
    assert.deepEqual(shape(heavy(0, 1)), [
      ['00', 0, 1, 'resident'],
      ['01', 1, 256, 'resident'],
    ]);
  });

  test('splits by descriptors as well as by CPU', () => {
    const buckets = withBucket(withBucket(empty, 9, { targets: 1, sockets: 60 }), 200, { targets: 1, sockets: 50 });
    assert.equal(planLayout(nothing, buckets, context(0)).shards.length, 2);
  });

  test('splits by memory as well: targets that are probed seldom need neither CPU nor descriptors', () => {
    const seldom = { periodSeconds: 300, timeoutSeconds: 1 };
    const spec = specOf({ containers: [{ name: 'app', readinessProbe: { ...tcpProbe, ...seldom } }] });
    const shardsOf = (targets: number) => {
      const bucket = weightOf(Array.from({ length: targets / 256 }, () => spec));
      const buckets = Array.from({ length: 256 }, () => bucket);
      return planLayout(nothing, buckets, { ...context(0), capacity: functionCapacity }).shards.length;
    };
    assert.deepEqual([4_096, 20_480, 102_400].map(shardsOf), [1, 8, 32]);
  });

  test('does not split a bucket that is too heavy, and splits off no empty ranges from it', () => {
    const heavy = withBucket(empty, 9, { targets: 1, cpu: 3 });
    assert.equal(planLayout(nothing, heavy, context(0)).shards.length, 1);
  });

  test('merges only after ten light minutes on end', () => {
    const split = planLayout(nothing, evenly(0.8), context(0));
    const almost = afterMinutes(split, evenly(0.2), 9, minuteMs);
    assert.equal(almost.shards.length, 2);
    const interrupted = planLayout(almost, evenly(0.68), context(11 * minuteMs));
    assert.equal(afterMinutes(interrupted, evenly(0.2), 9, 12 * minuteMs).shards.length, 2);
    assert.deepEqual(shape(afterMinutes(interrupted, evenly(0.2), 10, 12 * minuteMs)), [['00', 0, 256, 'resident']]);
  });

  test('merges one pair at a time', () => {
    const split = planLayout(nothing, evenly(5), context(0));
    const counts = Array.from({ length: 40 }, (_, minute) => afterMinutes(split, evenly(0.1), minute).shards.length);
    for (const [minute, count] of counts.entries()) assert.ok((counts[minute - 1] ?? count) - count <= 1);
    assert.ok((counts.at(-1) ?? 0) < split.shards.length);
  });

  for (const [what, [low, high], shards] of [
    [
      'a light pair also while the shards beside it are busy',
      [0.2 / 128, 2.6 / 256],
      ['00 0 128', '80 128 192', 'c0 192 256'],
    ],
    ['the lightest of several pairs first', [0.2 / 64, 0.05 / 64], ['00 0 64', '40 64 128', '80 128 256']],
  ] as const)
    test(`merges ${what}`, () => {
      const split = planLayout(nothing, evenly(2.6), context(0));
      const uneven = evenly(2.6).map((bucket, index) => ({ ...bucket, cpu: index < 128 ? low : high }));
      const after = shape(afterMinutes(split, uneven, 10, minuteMs)).map((row) => row.join(' '));
      const expected = shards.map((shard) => `${shard} resident`);
      assert.deepEqual(after, expected);
    });

  test('does not merge what would soon be split again', () => {
    const split = planLayout(nothing, evenly(0.8), context(0));
    assert.equal(afterMinutes(split, evenly(0.55), 60).shards.length, 2);
  });

  test('gives a new generation to what changed and to nothing else', () => {
    const split = planLayout(nothing, evenly(1.3), context(0));
    const [first, ...others] = split.shards;
    const heavier = withBucket(evenly(1.3), 0, { cpu: 0.5 });
    const again = planLayout(split, heavier, context(minuteMs));
    assert.ok(first && again.shards.length > split.shards.length);
    assert.deepEqual(again.shards.slice(-others.length), others);
  });

  test('becomes resident at once, and lesser only after ten minutes: a target that comes back costs nothing', () => {
    const idle = planLayout(nothing, empty, context(0));
    const slow = withBucket(empty, 7, { targets: 1, mode: 'tick' });
    const fast = withBucket(empty, 7, { targets: 1, mode: 'resident' });
    const tick = planLayout(idle, slow, context(minuteMs));
    const resident = planLayout(tick, fast, context(2 * minuteMs));
    assert.deepEqual([tick, resident].map(shape), [[['00', 0, 256, 'tick']], [['00', 0, 256, 'resident']]]);
    const generations = [tick, resident].map(({ shards }) => shards[0]?.generation);
    assert.deepEqual(generations, [2, 3]);
    const gone = afterMinutes(resident, empty, 9, 3 * minuteMs);
    assert.deepEqual(shape(gone), shape(resident));
    assert.equal(planLayout(gone, fast, context(13 * minuteMs)).shards[0]?.generation, 3);
    assert.deepEqual(shape(afterMinutes(gone, empty, 1, 13 * minuteMs)), [['00', 0, 256, 'idle']]);
  });

  test('with more targets than a tick pays for is held all the time, unless configured otherwise', () => {
    const modeWith = (targets: number, more: Partial<LayoutContext> = {}) =>
      planLayout(nothing, withBucket(empty, 7, { targets, mode: 'tick' }), context(0, more)).shards[0]?.mode;
    const more = tickTargetsMax.alone + 1;
    const modes = [modeWith(tickTargetsMax.alone), modeWith(more), modeWith(more, { mode: 'tick' })];
    assert.deepEqual(modes, ['tick', 'resident', 'tick']);
    const heavy = (targets: number) => ({ targets, cpu: 0.5, mode: 'tick' as const });
    const buckets = withBucket(withBucket(empty, 7, heavy(tickTargetsMax.among)), 200, heavy(tickTargetsMax.among + 1));
    const two = planLayout(nothing, buckets, context(0));
    assert.deepEqual(
      two.shards.map(({ mode }) => mode),
      ['tick', 'resident'],
    );
  });

  test('is held all the time, or never more than once a minute, if configured so', () => {
    const fast = withBucket(empty, 7, { targets: 1, mode: 'resident' });
    assert.equal(planLayout(nothing, empty, context(0, { mode: 'resident' })).shards[0]?.mode, 'resident');
    assert.equal(planLayout(nothing, fast, context(0, { mode: 'tick' })).shards[0]?.mode, 'tick');
    assert.equal(planLayout(nothing, empty, context(0, { mode: 'tick' })).shards[0]?.mode, 'idle');
  });
});

const weight: fc.Arbitrary<BucketWeight> = fc.record({
  targets: fc.integer({ min: 1, max: 50 }),
  cpu: fc.oneof({ weight: 4, arbitrary: fc.double({ min: 0, max: 0.1, noNaN: true }) }, fc.constantFrom(0, 0.69, 0.9)),
  sockets: fc.oneof({ weight: 4, arbitrary: fc.double({ min: 0, max: 5, noNaN: true }) }, fc.constantFrom(0, 80)),
  memory: fc.constantFrom(0, 1_000, 300_000),
  mode: fc.constantFrom('tick', 'resident'),
});
const fleet = fc
  .dictionary(fc.integer({ min: 0, max: 255 }).map(String), weight, { maxKeys: 60 })
  .map((some) => empty.map((none, index) => some[String(index)] ?? none));

describe('whatever the weights do, minute by minute', () => {
  const history = fc.array(fc.record({ buckets: fleet, minutes: fc.integer({ min: 1, max: 15 }) }), {
    minLength: 1,
    maxLength: 6,
  });
  const played = (check: (before: Layout, after: Layout, buckets: readonly BucketWeight[]) => void) =>
    fc.assert(
      fc.property(history, (spans) => {
        let [layout, nowMs] = [nothing, 0];
        for (const { buckets, minutes } of spans)
          for (let minute = 0; minute < minutes; minute += 1, nowMs += minuteMs) {
            const next = planLayout(layout, buckets, context(nowMs));
            check(layout, next, buckets);
            layout = next;
          }
      }),
      { numRuns: 60 },
    );

  test('every bucket has exactly one shard, and every shard a name of its own', () => {
    played((_, { shards }) => {
      assert.ok(isWhole(shards));
      assert.ok(shards.length >= 1 && shards.length <= 256);
      assert.equal(new Set(shards.map(({ shard }) => shard)).size, shards.length);
    });
  });

  test('no shard is above the limit unless one of its buckets alone is', () => {
    played((_, { shards }, buckets) => {
      for (const shard of shards) {
        const alone = buckets.slice(shard.from, shard.to).map((_, at) => shard.from + at);
        const isHopeless = alone.some((at) => loadOf({ from: at, to: at + 1 }, buckets) > splitAbove);
        assert.ok(isHopeless || loadOf(shard, buckets) <= splitAbove + 1e-9);
      }
    });
  });

  test('a range that stays in the same mode keeps its generation, any other gets the new one', () => {
    played((before, after) => {
      for (const shard of after.shards) {
        const same = before.shards.find(
          ({ from, to, mode }) => from === shard.from && to === shard.to && mode === shard.mode,
        );
        assert.equal(shard.generation, same?.generation ?? after.version);
      }
      assert.ok(after === before || after.version === before.version + 1);
    });
  });

  test('a range grows only by one merge a minute, of a pair that was marked as light for ten', () => {
    played((before, after) => {
      const grown = after.shards.filter(
        ({ from, to }) => before.shards.filter((old) => old.from >= from && old.to <= to).length > 1,
      );
      assert.ok(grown.length <= 1);
      for (const { from, sinceMs } of grown) {
        const left = before.shards.find((old) => old.from === from);
        assert.ok(left?.lightSinceMs !== undefined && sinceMs - left.lightSinceMs >= patienceMs);
      }
    });
  });

  test('a constant fleet comes to rest', () => {
    fc.assert(
      fc.property(fleet, (buckets) => {
        const settled = afterMinutes(nothing, buckets, 60);
        const later = afterMinutes(settled, buckets, 30, 61 * minuteMs);
        assert.deepEqual(shape(later), shape(settled));
      }),
      { numRuns: 20 },
    );
  });
});

describe('the weight of targets', () => {
  const probed = (probe: Partial<typeof tcpProbe> & Record<string, unknown>) =>
    specOf({ containers: [{ name: 'app', readinessProbe: { ...tcpProbe, ...probe } }] });

  test('480 HTTPS probes every 10 s are as much as one function holds', () => {
    const https = probed({ httpGet: { path: '/', port: 443, scheme: 'HTTPS' }, timeoutSeconds: 1 });
    const { cpu } = weightOf(Array.from({ length: 480 }, () => https));
    assert.ok(Math.abs(cpu / functionCapacity.cpu - splitAbove) < 0.05);
  });

  test('a larger spec takes more memory, and each probe takes its own', () => {
    const { memory } = weightOf([probed({})]);
    const long = probed({ httpGet: { path: `/${'a'.repeat(10_000)}`, port: 80, scheme: 'HTTP' } });
    assert.ok(weightOf([long]).memory - memory >= 40_000);
    const two = specOf({ containers: [{ name: 'app', readinessProbe: tcpProbe, livenessProbe: tcpProbe }] });
    assert.ok(weightOf([two]).memory - memory >= probeBytes);
  });

  test('a time-out as long as the period holds a descriptor all the time, never two', () => {
    assert.equal(weightOf([probed({ periodSeconds: 10, timeoutSeconds: 10 })]).sockets, 1);
    assert.equal(weightOf([probed({ periodSeconds: 1, timeoutSeconds: 30 })]).sockets, 1);
  });

  test('one probe below a minute makes a bucket resident; a target without probes still has a timekeeper', () => {
    assert.equal(weightOf([probed({ periodSeconds: 60 }), probed({ periodSeconds: 59 })]).mode, 'resident');
    assert.equal(weightOf([probed({ periodSeconds: 60 })]).mode, 'tick');
    assert.equal(weightOf([specOf({})]).mode, 'tick');
    assert.equal(weightOf([]).mode, 'idle');
  });
});

test('what is merged is light enough not to be split by a little growth', () => assert.ok(mergeBelow * 2 < splitAbove));
