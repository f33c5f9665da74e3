import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProbeRecord } from '../../../shared/core/spec/records.ts';
import { newProbeRecord } from '../../../shared/core/status/observed.ts';
import type { Commit } from '../../../shared/holder/commit/plan.ts';
import { commitQueue } from '../../../shared/holder/commit/queue.ts';
import { type Clock, sleep } from '../../../shared/lib/clock.ts';
import { operationKey } from '../../../shared/store/operation.ts';
import { decodeProbe, encodeEpoch, encodeProbe } from '../../../shared/store/records/items.ts';
import { eventKey, probeKey, targetAddress } from '../../../shared/store/records/keys.ts';
import type { Operation, Store, WriteOutcome } from '../../../shared/store/store.ts';
import { operationsMax } from '../../../shared/store/store.ts';
import { type ShardWorld, shardWorld } from '../../support/shard-world.ts';
import { beforeWrite } from '../../support/store-wraps.ts';
import { unhealthyEvent } from '../../support/unhealthy-event.ts';

const token = 7;
const conflict: WriteOutcome = { kind: 'refused', refusals: [{ index: 0, kind: 'conflict' }] };

type Write = { readonly atMs: number; readonly operations: readonly Operation[] };

/** A queue over a store with this many probes, each of a target of its own. */
async function queueOf(count: number, wrap: (store: Store) => Store = (store) => store, bucket?: string) {
  const writes: Write[] = [];
  const world: ShardWorld = shardWorld({
    wrapStore: (store) =>
      beforeWrite((operations) => {
        writes.push({ atMs: world.clock.nowMs(), operations });
        return undefined;
      })(wrap(store)),
  });
  const commits = commitsOf(count, bucket);
  for (const [at, { address, before }] of commits.entries()) {
    const epoch = encodeEpoch(address.bucket, { token, shard: '00', claimedAtMs: 0 });
    const items = [epoch, encodeProbe(address, before)];
    const operations = items.map((item): Operation => ({ kind: 'put', item }));
    await world.store.write(operations, { token: `setup-${at}` });
  }
  writes.length = 0;
  const run = world.bareRun(token);
  const queue = commitQueue(run);
  const submitAll = () => world.clock.runUntil(Promise.all(commits.map((commit) => queue.submit(commit))));
  return { world, run, commits, writes, queue, submitAll };
}

const gapsOf = (writes: readonly Write[]): readonly number[] =>
  writes.slice(1).map(({ atMs }, index) => atMs - (writes[index]?.atMs ?? 0));

/** In this bucket alone, or in all. */
function commitsOf(count: number, bucket: string | undefined) {
  const commits: ReturnType<typeof commitOf>[] = [];
  for (let at = 0; commits.length < count; at += 1) {
    const commit = commitOf(at);
    if (bucket === undefined || commit.address.bucket === bucket) commits.push(commit);
  }
  return commits;
}

/** Before each write but those that set the world up. */
const onCommit = (act: () => Promise<WriteOutcome | undefined> | WriteOutcome | undefined) =>
  beforeWrite((_, { token }) => (token.startsWith('setup') ? undefined : act()));

/** A store whose answers to commits take so long. */
const slow = (clock: () => Clock, ms: () => number) =>
  onCommit(async () => {
    await sleep(clock(), ms());
    return undefined;
  });

function commitOf(at: number): Commit & { readonly after: ProbeRecord } {
  const before = newProbeRecord(`u${at}`, {
    container: { kind: 'container', spec: { name: 'app' } },
    probeType: 'readiness',
  });
  const after: ProbeRecord = { ...before, containerID: 'test://1', result: 'failure', version: 1, sinceMs: 1 };
  return { address: targetAddress('default', `target-${at}`), before, after, events: [], latest: undefined };
}

/** An event alone, of the same probe. */
const eventOf = ({ address, before }: Commit): Commit => ({
  address,
  before,
  after: undefined,
  events: [unhealthyEvent(before.uid)],
  latest: undefined,
});

async function versionOf(store: Store, { address }: Commit): Promise<number | undefined> {
  const item = await store.get(probeKey(address, 'app#readiness'));
  const decoded = item && decodeProbe(item);
  return decoded?.kind === 'ok' ? decoded.record.version : undefined;
}

describe('the commit queue', () => {
  test('groups what waits into transactions of at most 100 operations, at most 32 a second', async () => {
    const { writes, submitAll } = await queueOf(300);
    const results = await submitAll();
    assert.ok(results.every((result) => result === 'committed'));
    assert.ok(writes.every(({ operations }) => operations.length <= operationsMax));
    const most = (300 * 2) / operationsMax;
    assert.ok(writes.length <= most + 2, `${writes.length} transactions`);
    const gaps = gapsOf(writes);
    assert.ok(Math.min(...gaps) >= 1_000 / 32, `${gaps}`);
  });

  test('commits a thousand a second where an answer takes 100 ms', async () => {
    const { world, commits, queue } = await queueOf(
      3_000,
      slow(
        () => world.clock,
        () => 100,
      ),
    );
    const beganAtMs = world.clock.nowMs();
    const withEvent = commits.map((commit) => ({ ...commit, events: [unhealthyEvent(commit.before.uid)] }));
    await world.clock.runUntil(Promise.all(withEvent.map((commit) => queue.submit(commit))));
    const tookMs = world.clock.nowMs() - beganAtMs;
    assert.ok(tookMs <= 3_000 + 200, `${tookMs} ms`);
  });

  test('slows down to one at a time, four a second, where answers take long, and recovers after that', async () => {
    let ms = 1_000;
    const { world, commits, writes, queue } = await queueOf(
      3_000,
      slow(
        () => world.clock,
        () => ms,
      ),
    );
    const settled = Promise.all(commits.map((commit) => queue.submit(commit)));
    await world.clock.advance(10_000);
    const inLateSeconds = writes.filter(({ atMs }) => atMs > world.clock.nowMs() - 5_000).length;
    assert.ok(inLateSeconds <= 6, `${inLateSeconds} transactions in 5 s`);
    ms = 20;
    const beganAtMs = world.clock.nowMs();
    await world.clock.runUntil(settled);
    assert.ok(world.clock.nowMs() - beganAtMs < 5_000, 'the rest takes seconds');
  });

  test('has no bucket in two transactions at the same time', async () => {
    const underWay = new Set<string>();
    const watched = (store: Store): Store => ({
      ...store,
      async write(operations, options) {
        const buckets = operations.filter(({ kind }) => kind === 'check').map((check) => operationKey(check).pk);
        for (const bucket of buckets) assert.ok(!underWay.has(bucket), bucket);
        for (const bucket of buckets) underWay.add(bucket);
        const outcome = await store.write(operations, options);
        for (const bucket of buckets) underWay.delete(bucket);
        return outcome;
      },
    });
    const { world, submitAll } = await queueOf(1_000, (store) =>
      watched(
        slow(
          () => world.clock,
          () => 100,
        )(store),
      ),
    );
    const results = await submitAll();
    assert.ok(results.every((result) => result === 'committed'));
  });

  test('leaves the partition of a bucket half of the write units that DynamoDB has for it', async () => {
    const { writes, submitAll } = await queueOf(500, undefined, 'a7');
    await submitAll();
    const inBucket = ({ operations }: Write) => operations.filter((one) => operationKey(one).pk === 'B#a7').length;
    const units = writes.map((write) => 2 * inBucket(write));
    const lastMs = (writes.at(-1)?.atMs ?? 0) - (writes[0]?.atMs ?? 0);
    const all = units.reduce((sum, one) => sum + one, 0) - (units.at(-1) ?? 0);
    assert.ok((all * 1_000) / lastMs <= 500, `${all} units in ${lastMs} ms`);
  });

  test('holds each bucket of a group against the fence once', async () => {
    const { writes, submitAll } = await queueOf(40);
    await submitAll();
    for (const { operations } of writes) {
      const fences = operations.filter(({ kind }) => kind === 'check').map((each) => JSON.stringify(each));
      assert.equal(new Set(fences).size, fences.length);
    }
  });

  test('leaves nothing lying that comes when the last one has just been written', async () => {
    for (let steps = 0; steps < 20; steps += 1) {
      const { world, commits, queue } = await queueOf(2);
      const [first, second] = commits;
      assert.ok(first && second);
      const submitBoth = async () => {
        await queue.submit(first);
        for (let step = 0; step < steps; step += 1) await undefined;
        return Promise.race([queue.submit(second), sleep(world.clock, 1_000)]);
      };
      assert.equal(await world.clock.runUntil(submitBoth()), 'committed', `after ${steps} steps`);
    }
  });

  test('drops only what another run has overtaken', async () => {
    const { world, commits, submitAll } = await queueOf(3);
    const [, overtaken] = commits;
    assert.ok(overtaken);
    const item = encodeProbe(overtaken.address, { ...overtaken.before, version: 5 });
    await world.store.write([{ kind: 'put', item }], { token: 'other' });
    const results = await submitAll();
    assert.deepEqual(results, ['committed', 'superseded', 'committed']);
    assert.equal(await versionOf(world.store, overtaken), 5);
  });

  test('lets the first of two commits of one probe win', async () => {
    const { world, run, commits, queue } = await queueOf(2);
    const [other, twice] = commits;
    assert.ok(other && twice);
    // The first of all is written at once; what comes meanwhile would make one group.
    const again: Commit = eventOf(twice);
    const results = await world.clock.runUntil(
      Promise.all([other, twice, again, twice].map((commit) => queue.submit(commit))),
    );
    assert.deepEqual(results, ['committed', 'committed', 'superseded', 'superseded']);
    assert.equal(run.ended(), undefined);
  });

  test('ends the run when a fence is lost, and writes nothing of the group', async () => {
    const { world, run, commits, queue, submitAll } = await queueOf(3);
    const bucket = commits[2]?.address.bucket ?? '';
    const higher = encodeEpoch(bucket, { token: token + 1, shard: '00', claimedAtMs: 0 });
    await world.store.write([{ kind: 'put', item: higher }], { token: 'other' });
    const results = await submitAll();
    // The first is written at once and alone; what comes meanwhile waits and makes a group.
    assert.deepEqual(results, ['committed', 'void', 'void']);
    assert.deepEqual(run.ended(), { kind: 'fenced' });
    for (const commit of commits.slice(1)) assert.equal(await versionOf(world.store, commit), 0);
    assert.equal(await queue.submit(commits[0] as Commit), 'void');
  });

  test('tries a transaction again that met another one', async () => {
    let conflicts = 3;
    const { submitAll } = await queueOf(
      2,
      onCommit(() => {
        conflicts -= 1;
        return conflicts < 0 ? undefined : conflict;
      }),
    );
    const results = await submitAll();
    assert.deepEqual(results, ['committed', 'committed']);
  });

  test('waits between tries, and ends the run when conflicts do not end', async () => {
    const { run, writes, submitAll } = await queueOf(
      1,
      onCommit(() => {
        assert.ok(writes.length < 100, 'it goes on for ever');
        return conflict;
      }),
    );
    const results = await submitAll();
    assert.deepEqual([results, run.ended()?.kind], [['void'], 'doubt']);
    // The first one, and after each of 20 conflicts another.
    assert.equal(writes.length, 21);
    const gaps = gapsOf(writes);
    assert.ok(Math.min(...gaps) >= 50 && Math.max(...gaps) <= 150, `${gaps}`);
  });

  test('waits with one timer, however many commits there are', async () => {
    const { world, commits, queue } = await queueOf(200);
    const before = world.clock.pending();
    const settled = Promise.all(commits.map((commit) => queue.submit(commit)));
    await world.clock.advance(0);
    assert.equal(world.clock.pending() - before, 1);
    await world.clock.runUntil(settled);
    assert.equal(world.clock.pending(), before);
  });

  test('is drained when the last answer has come, and at once without one', async () => {
    const { world, commits, writes, queue } = await queueOf(
      3,
      slow(
        () => world.clock,
        () => 100,
      ),
    );
    await queue.drained();
    let drainedAtMs: number | undefined;
    const settled = Promise.all(commits.map((commit) => queue.submit(commit)));
    const drained = queue.drained().then(() => {
      drainedAtMs = world.clock.nowMs();
    });
    await world.clock.runUntil(Promise.all([settled, drained]));
    assert.equal(drainedAtMs, (writes.at(-1)?.atMs ?? 0) + 100);
    await queue.drained();
  });

  test('settles what waits as void when the run ends, and is drained without another timer', async () => {
    const { world, run, commits, writes, queue } = await queueOf(3);
    const before = world.clock.pending();
    const settled = Promise.all(commits.map((commit) => queue.submit(commit)));
    await world.clock.advance(0);
    run.end({ kind: 'doubt', reason: 'a test' });
    assert.deepEqual(await settled, ['committed', 'void', 'void']);
    await queue.drained();
    assert.deepEqual([writes.length, world.clock.pending()], [1, before]);
  });

  test('ends the run when a write throws', async () => {
    const { run, submitAll } = await queueOf(
      1,
      onCommit(() => {
        throw new Error('the store is broken');
      }),
    );
    assert.deepEqual(await submitAll(), ['void']);
    assert.deepEqual(run.ended(), { kind: 'doubt', reason: 'a commit failed' });
  });

  test('ends the run when an answer is in doubt', async () => {
    const { run, submitAll } = await queueOf(
      1,
      onCommit(() => ({ kind: 'inDoubt' })),
    );
    const results = await submitAll();
    assert.deepEqual(results, ['void']);
    assert.equal(run.ended()?.kind, 'doubt');
  });

  test('writes events alone only while their target is there', async () => {
    const { world, commits, queue } = await queueOf(2);
    const [gone, there] = commits;
    assert.ok(gone && there);
    await world.store.write([{ kind: 'delete', key: probeKey(gone.address, 'app#readiness') }], { token: 'purge' });
    const submit = (commit: Commit) => queue.submit(eventOf(commit));
    const results = await world.clock.runUntil(Promise.all([submit(gone), submit(there)]));
    assert.deepEqual(results, ['superseded', 'committed']);
    const stored = await Promise.all(
      [gone, there].map(({ address }) => world.store.get(eventKey(address, unhealthyEvent('').id))),
    );
    const uids = stored.map((item) => item?.uid);
    assert.deepEqual(uids, [undefined, there.before.uid]);
  });
});
