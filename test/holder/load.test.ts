/** What the holder of a shard reads: all of it at first, then what has changed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { residentSlotMs } from '../../shared/core/shards/slots.ts';
import type { ProbeInput } from '../../shared/core/spec/spec-input.ts';
import { HeldTargets } from '../../shared/holder/held-targets.ts';
import { fullReloadIntervalMs, ShardLoader } from '../../shared/holder/load.ts';
import type { HeldTarget } from '../../shared/holder/probing/worker.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import { decodeCheckpoint } from '../../shared/store/records/items.ts';
import { bucketPk, checkpointKey, statusKey, targetAddress } from '../../shared/store/records/keys.ts';
import type { Store } from '../../shared/store/store.ts';
import { touchChanges } from '../../shared/table/change-counters.ts';
import { bareRunOf } from '../support/bare-holder.ts';
import { writeSettled } from '../support/settled-targets.ts';
import { inShardWorld, type ShardWorld, shardWorld } from '../support/shard-world.ts';

const tcp: ProbeInput = { tcpSocket: { port: 1 }, periodSeconds: 1 };

describe('a target that is registered while its shard is held', () => {
  inShardWorld('is probed within seconds, though it is the first of its bucket', async (world) => {
    await world.run();
    await world.clock.advance(10_000);
    await world.put('first', { readinessProbe: tcp });
    await world.clock.advance(4_000);
    assert.ok(world.probes() > 0);
    const before = world.probes();
    const other = targetAddress('default', 'second');
    assert.notEqual(other.bucket, targetAddress('default', 'first').bucket);
    await world.put('second', { readinessProbe: { ...tcp, periodSeconds: 3_600 } });
    await world.clock.advance(4_000);
    assert.equal((await world.probe('second', 'main#readiness')).result, 'success');
    assert.ok(world.probes() - before >= 4, 'the first one is probed as before');
  });
});

test('a target that changes while its shard is loaded is probed by its new spec within seconds', async () => {
  let onRead: (() => Promise<unknown>) | undefined;
  const wrapStore = (store: Store): Store => ({
    ...store,
    async query(asked) {
      const items = await store.query(asked);
      const act = asked.pk === bucketPk(targetAddress('default', 'web').bucket) ? onRead : undefined;
      if (act) onRead = undefined;
      await act?.();
      return items;
    },
  });
  const world = shardWorld({ wrapStore });
  await world.put('web', { readinessProbe: { ...tcp, periodSeconds: 3_600 } });
  await (await world.run()).stop();
  onRead = () => world.put('web', { readinessProbe: tcp });
  await world.run();
  assert.equal(onRead, undefined);
  const before = world.probes();
  await world.clock.advance(20_000);
  assert.ok(world.probes() - before >= 15, `${world.probes() - before} probes`);
});

/** A shard that holds two targets of which one has lost its STATUS item. */
async function poisonedWorld() {
  const world = shardWorld();
  for (const name of ['whole', 'torn']) await world.put(name, { readinessProbe: tcp });
  const address = targetAddress('default', 'torn');
  const key = statusKey(address);
  const mended = await world.store.get(key);
  assert.ok(mended);
  await world.store.write([{ kind: 'delete', key }], { token: 'torn' });
  // A whole slot lies ahead, in which everything is read again once.
  await world.clock.advance(residentSlotMs - (world.clock.nowMs() % residentSlotMs));
  const run = await world.run();
  await world.clock.advance(5_000);
  const logged = () => world.log.lines.filter(({ message }) => message === 'poison item quarantined');
  const touch = () => world.clock.runUntil(touchChanges(world, address));
  return { ...world, run, address, mended, logged, touch };
}

describe('a target whose items cannot be read', () => {
  test('is quarantined alone, and shown by its first item', async () => {
    const { run, address, logged, probe } = await poisonedWorld();
    const quarantined = run.view()?.quarantined ?? [];
    const named = quarantined.map(({ key, detail }) => [key.pk, key.sk.startsWith(address.prefix), detail]);
    assert.deepEqual(named, [[bucketPk(address.bucket), true, 'the target has no TARGET or no STATUS item']]);
    assert.equal(run.view()?.targets, 1);
    assert.equal((await probe('whole', 'main#readiness')).result, 'success');
    const keys = logged().map(({ level, fields }) => [level, fields?.key]);
    assert.deepEqual(keys, [['error', quarantined[0]?.key]]);
  });

  test('is logged and shown once, however its shard is read, until it is mended', async () => {
    const { clock, store, run, mended, logged, touch } = await poisonedWorld();
    const shown = () => run.view()?.quarantined.length;
    for (let change = 0; change < 3; change += 1) {
      await touch();
      await clock.advance(4_000);
      assert.deepEqual([shown(), logged().length], [1, 1]);
    }
    await clock.advance(fullReloadIntervalMs);
    assert.deepEqual([shown(), logged().length], [1, 1], 'after everything was read again');
    await store.write([{ kind: 'put', item: mended }], { token: 'mended' });
    await touch();
    await clock.advance(4_000);
    assert.deepEqual([shown(), run.view()?.targets], [0, 2]);
  });
});

test('a checkpoint that a dead run left is cleared once nothing of it holds any more', async () => {
  const world: ShardWorld = shardWorld();
  await world.put('checkout', { readinessProbe: { ...tcp, failureThreshold: 1_000 } });
  const entries = async () => {
    const item = await world.store.get(checkpointKey(targetAddress('default', 'checkout').bucket));
    const decoded = item && decodeCheckpoint(item);
    return decoded?.kind === 'ok' ? Object.keys(decoded.record.entries) : undefined;
  };
  const dead = await world.run();
  await world.clock.advance(5_000);
  world.answer(() => 'failure');
  await world.clock.advance(70_000);
  dead.crash();
  assert.equal((await entries())?.length, 1);
  world.answer(() => 'success');
  await world.run();
  await world.clock.advance(70_000);
  assert.deepEqual(await entries(), []);
});

inShardWorld('targets are adopted in turns of 5 ms of the event loop', async (world) => {
  const targets = 100;
  for (let at = 0; at < targets; at += 1) await world.put(`target-${at}`, { readinessProbe: tcp });
  const run = world.bareRun(1);
  // A small function: each target costs a millisecond of CPU, in which no time passes for others.
  let cpuMs = 0;
  let turn = 0;
  const clock: Clock = {
    ...world.clock,
    monotonicMs: () => world.clock.monotonicMs() + cpuMs,
    setTimer(delayMs, callback) {
      return world.clock.setTimer(delayMs, () => {
        turn += 1;
        callback();
      });
    },
  };
  const adoptedIn: number[] = [];
  const held = new (class extends HeldTargets {
    override set(name: string, target: HeldTarget) {
      cpuMs += 1;
      adoptedIn.push(turn);
      return super.set(name, target);
    }
  })();
  const onSlowMachine = { ...run, ports: { ...run.ports, clock } };
  const holder = bareRunOf(onSlowMachine, held);
  assert.equal(await world.clock.runUntil(new ShardLoader(holder).loadAll()), true);
  assert.equal(held.size, targets);
  const inTurn = Map.groupBy(adoptedIn, (at) => at);
  const most = Math.max(...[...inTurn.values()].map(({ length }) => length));
  assert.ok(most <= 5, `${most} in one turn`);
});

describe('a holder of many targets looks at no more of them than one of few', () => {
  for (const targets of [100, 1_600])
    test(`${targets} targets, when one changes and when two of a bucket are read again`, async () => {
      const world = shardWorld();
      await writeSettled(world.store, { targets, port: 1, periodSeconds: 10 });
      await world.put('changed', { readinessProbe: tcp });
      const run = world.bareRun(1);
      const holder = bareRunOf(run);
      const loader = new ShardLoader(holder);
      assert.equal(await world.clock.runUntil(loader.loadAll()), true);
      let looks = 0;
      for (const held of holder.targets.values()) {
        const { address } = held;
        Object.defineProperty(held, 'address', {
          get() {
            looks += 1;
            return address;
          },
        });
      }
      await world.put('changed', { readinessProbe: { ...tcp, periodSeconds: 5 } });
      assert.equal(await world.clock.runUntil(loader.catchUp()), true);
      assert.equal(holder.targets.size, targets + 1);
      const buckets = Map.groupBy(holder.targets.values(), ({ address }) => address.bucket);
      const two = [...buckets.values()].find(({ length }) => length >= 2)?.slice(0, 2) ?? [];
      looks -= targets + 1;
      await world.clock.runUntil(holder.reread(two));
      assert.ok(looks <= looksMax, `${looks} looks`);
    });
});

/** A slice has few targets, and each of them is looked at several times when it is adopted. */
const looksMax = 50;
