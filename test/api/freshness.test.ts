import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freshnessReader } from '../../shared/api/targets/freshness.ts';
import { encodeEpoch, encodeRun } from '../../shared/store/records/items.ts';
import { bucketName, targetAddress } from '../../shared/store/records/keys.ts';
import type { EpochRecord, RunRecord } from '../../shared/store/records/shard-records.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import type { Item, Store } from '../../shared/store/store.ts';
import { apiWorld, startMs, targetPath } from './world.ts';

const path = targetPath('checkout');
const { bucket } = targetAddress('default', 'checkout');

type Joined = { readonly epoch?: Partial<EpochRecord>; readonly run?: Partial<RunRecord> };

type Shown = {
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    readonly probes: readonly { readonly result?: string; readonly reason?: string }[];
  };
};

/** A target with a readiness probe of this period, `afterMs` after its registration. */
async function shown(periodSeconds: number, afterMs: number, { epoch, run }: Joined) {
  const world = apiWorld();
  await world.ask('PUT', path, { spec: specOf(periodSeconds) });
  if (epoch) await world.put(encodeEpoch(bucket, { token: 1, shard: '00-ff', claimedAtMs: startMs, ...epoch }));
  if (run) await world.put(encodeRun('00-ff', { ...begun, ...run }));
  world.advance(afterMs);
  return shownIn(world);
}

const specOf = (periodSeconds: number) => {
  return { host: '127.0.0.1', readinessProbe: { tcpSocket: { port: 1 }, periodSeconds } };
};

const begun: RunRecord = {
  ...{ token: 1, generation: 1, slot: 0, doneSlot: -1, beat: 1 },
  ...{ beatAtMs: startMs, observedAtMs: startMs, degraded: false },
};

async function shownIn(world: ReturnType<typeof apiWorld>) {
  const { status } = (await world.ask<Shown>('GET', path)).body;
  const ready = status.conditions.find(({ type }) => type === 'Ready');
  return [ready?.status, ready?.reason, status.probes[0]?.result, status.probes[0]?.reason];
}

const fresh = ['Unknown', 'NotYetProbed', 'unknown', 'NotYetProbed'];
const stale = ['Unknown', 'Late', 'unknown', 'Late'];

/**
 * Times after the registration, ms: that of the last beat, and when the probe of each target that is behind was last
 * done.
 */
const beaten = (observedMs: number, behind: Readonly<Record<string, number>>): Joined => ({
  epoch: {},
  run: {
    observedAtMs: startMs + observedMs,
    behind: Object.fromEntries(
      Object.entries(behind).map(([name, seenMs]) => [`default/${name}#main#readiness`, startMs + seenMs]),
    ),
  },
});

type Row = readonly [what: string, periodSeconds: number, afterMs: number, joined: Joined, expected: unknown];
/** Another run of the shard than the one that EPOCH names. */
const another = { token: 2, observedAtMs: startMs + 599_000 };
const claimed = { epoch: { token: 2, claimedAtMs: startMs + 599_000 }, run: { token: 2 } };
const doubting = ['Unknown', 'ProberDegraded', 'unknown', 'ProberDegraded'];

const rows: readonly Row[] = [
  ['observed 40 s ago', 10, 40_000, { epoch: {}, run: {} }, fresh],
  ['observed longer ago', 10, 40_001, { epoch: {}, run: {} }, stale],
  ['three periods ago', 60, 180_000, { epoch: {}, run: {} }, fresh],
  ['more than three periods ago', 60, 180_001, { epoch: {}, run: {} }, stale],
  ['observed just now', 10, 600_000, { epoch: {}, run: { observedAtMs: startMs + 599_000 } }, fresh],
  ['claimed by another run just now, which has observed nothing', 10, 600_000, claimed, stale],
  ['about to be claimed by another run, observed just now', 10, 600_000, { epoch: {}, run: another }, fresh],
  ['claimed, and never beaten', 10, 60_000, { epoch: {} }, stale],
  ['never claimed', 10, 60_000, {}, stale],
  ['never claimed, but registered just now', 10, 1_000, {}, fresh],
  ['its probe is late, others are not', 10, 60_000, beaten(59_000, { checkout: 10_000 }), stale],
  ['another probe is late', 10, 60_000, beaten(59_000, { cart: 10_000 }), fresh],
  ['its probe is behind, but not for too long yet', 10, 60_000, beaten(59_000, { checkout: 25_000 }), fresh],
  ['its probe was behind at the last beat, and is late by now', 10, 60_000, beaten(40_000, { checkout: 5_000 }), stale],
  ['a prober that doubts itself', 10, 1_000, { epoch: {}, run: { degraded: true } }, doubting],
];

describe('what is shown is only as good as the last observation', () => {
  for (const [what, periodSeconds, afterMs, joined, expected] of rows)
    test(what, async () => assert.deepEqual(await shown(periodSeconds, afterMs, joined), expected));
});

/** The targets of this bucket come from another shard, whose holder has not observed them for ten minutes. */
const takenOver = { ...begun, token: 2, sinceToken: 2, observedAtMs: startMs };
/** Of other buckets, which the shard had before. */
const ofOthers = { ...begun, token: 1, observedAtMs: startMs + 599_000 };

describe('what RUN said of other buckets says nothing of these', () => {
  for (const [what, isLagging] of [
    ['although a replica still has it', (read: number) => read === 1],
    [
      'although one of the replicas has it for long',
      (_: number, options?: { eventuallyConsistent?: boolean }) => options?.eventuallyConsistent === true,
    ],
  ] as const)
    test(what, async () => {
      let reads = 0;
      const wrapStore = (store: Store): Store => ({
        ...store,
        async get(key, options) {
          if (key.sk !== 'RUN') return store.get(key, options);
          reads += 1;
          return isLagging(reads, options) ? encodeRun('00-ff', ofOthers) : store.get(key, options);
        },
      });
      const world = apiWorld({ wrapStore });
      await world.ask('PUT', path, { spec: specOf(10) });
      await world.put(encodeEpoch(bucket, { token: 2, shard: '00-ff', claimedAtMs: startMs + 599_500 }));
      await world.put(encodeRun('00-ff', takenOver));
      world.advance(600_000);
      assert.deepEqual(await shownIn(world), stale);
      assert.deepEqual(reads, 2);
    });

  test('although it was read before this bucket was claimed, as in a list', async () => {
    const store = sqliteStore({ path: ':memory:' });
    const put = (item: Item) => store.write([{ kind: 'put', item }], { token: `${item.pk}${item.token}` });
    const epoch = { shard: '00-ff', claimedAtMs: startMs };
    await put(encodeEpoch(bucketName(1), { ...epoch, token: 1 }));
    await put(encodeRun('00-ff', ofOthers));
    const freshnessOf = freshnessReader({ store });
    assert.equal((await freshnessOf(bucketName(1))).observed?.observedAtMs, ofOthers.observedAtMs);
    await put(encodeRun('00-ff', takenOver));
    await put(encodeEpoch(bucketName(2), { ...epoch, token: 2 }));
    assert.equal((await freshnessOf(bucketName(2))).observed?.observedAtMs, takenOver.observedAtMs);
  });
});
