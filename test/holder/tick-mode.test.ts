/** Tick mode: a run a minute, which ends when everything due is done. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Attempt } from '../../shared/core/spec/types.ts';
import type { ShardMemory } from '../../shared/holder/shard-run.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { generationAttribute } from '../../shared/store/records/items.ts';
import { layoutKey } from '../../shared/store/records/keys.ts';
import { column } from '../support/columns.ts';
import { testsIn } from '../support/tests-in.ts';
import { minuteMs, tcp, tickWorld } from './tick-world.ts';

const failure = () => 'failure' as const;
const success = () => 'success' as const;

/** Each run in a process of its own: nothing is remembered. */
const cold = (): { readonly memory: ShardMemory } => ({ memory: new Map() });

const inWorld = testsIn(() => tickWorld());

describe('a run in tick mode', () => {
  inWorld('ends as soon as what is due is done, and its slot is done', async (world) => {
    await world.put('a', { readinessProbe: tcp(60) });
    const { end, tookMs, probes } = await world.tick();
    assert.deepEqual([end, probes], [{ kind: 'slotDone' }, 1]);
    assert.ok(tookMs < 1_000, `it took ${tookMs} ms`);
    const { slot, doneSlot, tick } = await world.runRecord();
    assert.deepEqual([doneSlot, tick], [slot, true]);
    assert.equal((await world.status('a')).status.containerStatuses[0]?.ready, true);
    assert.equal(world.clock.pending(), 0, 'nothing is left pending');
  });

  inWorld('drops a second message of its slot, and one that comes after its end', async (world) => {
    await world.put('a', { readinessProbe: tcp(60) });
    const late = await world.message();
    await world.tick();
    assert.deepEqual(await world.tick(), { end: { kind: 'stale' }, tookMs: 0, probes: 0 });
    await world.toMinute(1_000);
    assert.deepEqual(await world.tick({ more: late }), { end: { kind: 'stale' }, tookMs: 0, probes: 0 });
  });

  inWorld('has a minute’s time for the slowest probe, also beyond the end of its slot', async (world) => {
    await world.put('a', { readinessProbe: tcp(60, { timeoutSeconds: 60, failureThreshold: 2 }) });
    await world.tick(cold());
    world.answers(async (): Promise<Attempt> => {
      await sleep(world.clock, 59_900);
      return { outcome: 'failure', output: 'hangs', timings: { totalMs: 59_900 } };
    });
    for (let minute = 0; minute < 2; minute += 1) {
      await world.toMinute(20_000);
      const { end, tookMs } = await world.tick(cold());
      assert.equal(end.kind, 'slotDone');
      assert.ok(tookMs >= 59_900 && tookMs < 62_000);
    }
    assert.equal((await world.probe('a', 'main#readiness')).result, 'failure');
  });

  inWorld('that is stopped hands its slot over undone, and the next one has it', async (world) => {
    await world.put('a', { readinessProbe: tcp(60) });
    await world.tick();
    await world.toMinute();
    world.answers(() => new Promise(() => {}));
    const stop = new AbortController();
    const running = world.begin({ stop: stop.signal });
    await world.clock.advance(1_000);
    stop.abort();
    assert.deepEqual(await world.clock.runUntil(running), { kind: 'handover' });
    const { slot, doneSlot } = await world.runRecord();
    assert.ok(doneSlot < slot);
    world.answers(success);
    const { end, probes } = await world.tick(cold());
    assert.deepEqual([end.kind, probes], ['slotDone', 1]);
  });
});

describe('from run to run', () => {
  for (const [name, options] of Object.entries({ 'in one process': () => ({}), 'each in another process': cold })) {
    inWorld(`${name}: a probe comes once a period`, async (world) => {
      await world.put('a', {
        containers: [
          { name: 'one', readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: 60 } },
          { name: 'three', readinessProbe: { tcpSocket: { port: 3 }, periodSeconds: 180 } },
        ],
      });
      await world.tick(options());
      const first = world.takeProbed();
      assert.equal(first.length, 2, 'new ones at once');
      for (let minute = 0; minute < 30; minute += 1) {
        await world.toMinute(minute % 2 === 0 ? 0 : 3_000);
        const { end, tookMs } = await world.tick(options());
        assert.equal(end.kind, 'slotDone');
        assert.ok(tookMs < 1_000);
      }
      const probed = world.takeProbed();
      const count = (port: number) => probed.filter((each) => each.port === port).length;
      assert.deepEqual([count(1), count(3)], [30, 10]);
    });

    inWorld(`${name}: a run of failures continues, and a success breaks it`, async (world) => {
      await world.put('a', { readinessProbe: tcp(60, { failureThreshold: 3 }) });
      await world.tick(options());
      const results: (string | undefined)[] = [];
      for (const answer of 'FFSFFF') {
        world.answers(answer === 'F' ? failure : success);
        await world.toMinute();
        await world.tick(options());
        results.push((await world.probe('a', 'main#readiness')).result);
      }
      assert.deepEqual(results, ['success', 'success', 'success', 'success', 'success', 'failure']);
    });

    inWorld(`${name}: a worker on hold stays on hold until there is a new container`, async (world) => {
      const livenessProbe = tcp(60, { failureThreshold: 1 });
      await world.put('a', { lifecycle: 'reported', containers: [{ name: 'app', livenessProbe }] });
      await world.reportRunning('a', 'test://1');
      world.answers(failure);
      await world.tick(options());
      const probes: number[] = [];
      for (let minute = 0; minute < 3; minute += 1) {
        if (minute === 2) await world.reportRunning('a', 'test://2');
        await world.toMinute();
        probes.push((await world.tick(options())).probes);
      }
      assert.deepEqual(probes, [0, 0, 1]);
    });

    inWorld(`${name}: a manual trigger fires once, in the next run`, async (world) => {
      await world.put('a', { readinessProbe: tcp(3_600) });
      await world.tick(options());
      const probes: number[] = [];
      for (let minute = 0; minute < 3; minute += 1) {
        if (minute === 1) await world.trigger('a');
        await world.toMinute();
        probes.push((await world.tick(options())).probes);
      }
      assert.deepEqual(probes, [0, 1, 0]);
    });
  }

  inWorld('a late run costs the next one a wait: 0.9 period between two probes', async (world) => {
    await world.put('a', { readinessProbe: tcp(60) });
    await world.tick();
    for (const offsetMs of [40_000, 0, 0]) {
      await world.toMinute(offsetMs);
      await world.tick();
    }
    const times = world.takeProbed().map(({ atMs }) => atMs % (10 * minuteMs));
    const startMs = (times[0] ?? 0) - ((times[0] ?? 0) % minuteMs);
    const offsetsMs = times.map((atMs) => atMs - startMs);
    assert.deepEqual(offsetsMs, [0, 100_000, 154_000, 208_000]);
  });

  test('a probe that had to wait so long that its answer might come after the slot is left to the next run', async () => {
    const world = tickWorld();
    await world.put('a', { readinessProbe: tcp(60, { timeoutSeconds: 20 }) });
    await world.toMinute(50_000);
    await world.tick();
    const { atMs: firstMs = 0 } = world.takeProbed()[0] ?? {};
    // It may be probed again 44 s into this minute, and could take 20 s.
    await world.toMinute();
    assert.equal((await world.tick()).probes, 0);
    await world.toMinute();
    await world.tick();
    const gapsMs = world.takeProbed().map(({ atMs }) => atMs - firstMs);
    assert.deepEqual(gapsMs, [70_000]);
  });

  inWorld('what was missed is made up for by the next run, once', async (world) => {
    for (let at = 0; at < 20; at += 1) await world.put(`t${at}`, { readinessProbe: tcp(600) });
    await world.tick(cold());
    await world.toMinute(0, 5);
    const { probes: inFive } = await world.tick(cold());
    let inTheOthers = 0;
    for (let minute = 0; minute < 5; minute += 1) {
      await world.toMinute();
      inTheOthers += (await world.tick(cold())).probes;
    }
    assert.equal(inFive + inTheOthers, 20);
    assert.ok(inFive > 0 && inTheOthers > 0);
  });

  test('in a new layout, what was missed is made up for also by a process whose clock is ahead', async () => {
    /** What is probed after five minutes without a run. */
    const probedAfter = async (aheadMs: number) => {
      const world = tickWorld();
      const containers = Array.from({ length: 20 }, (_, at) => ({
        name: `c${at}`,
        readinessProbe: { tcpSocket: { port: at + 1 }, periodSeconds: 600 },
      }));
      await world.put('a', { containers });
      await world.tick(cold());
      world.takeProbed();
      await world.toMinute(0, 5);
      const set = { [generationAttribute('00')]: 99 };
      await world.store.write([{ kind: 'update', key: layoutKey, set }], { token: 'another layout' });
      assert.equal((await world.tick({ ...cold(), aheadMs })).end.kind, 'slotDone');
      return world.takeProbed().map(({ port }) => port);
    };
    const missed = await probedAfter(0);
    assert.ok(missed.length > 4 && missed.length < 16, `${missed}`);
    const probed = new Set(await probedAfter(3_600_000));
    const left = missed.filter((port) => !probed.has(port));
    assert.deepEqual(left, []);
  });

  test('a target that is registered between two runs is probed by the next one, one that comes during a run at once', async () => {
    const world = tickWorld();
    await world.put('a', { readinessProbe: tcp(60, { timeoutSeconds: 10 }) });
    await world.tick();
    await world.put('b', { readinessProbe: tcp(60) });
    await world.toMinute();
    world.answers(async () => {
      await sleep(world.clock, 5_000);
      return success();
    });
    const running = world.begin();
    await world.clock.advance(100);
    await world.put('c', { readinessProbe: tcp(3_600) });
    await world.clock.runUntil(running);
    for (const name of ['a', 'b', 'c']) assert.equal((await world.probe(name, 'main#readiness')).result, 'success');
  });

  inWorld('a startup success opens the gate in the same run', async (world) => {
    await world.put('a', { startupProbe: tcp(60), readinessProbe: { tcpSocket: { port: 2 }, periodSeconds: 60 } });
    await world.tick();
    assert.deepEqual(column(world.takeProbed(), 'port'), [1, 2]);
  });
});

describe('timekeeping lags a minute at most', () => {
  inWorld('the end of a grace period', async (world) => {
    await world.put('a', { readinessProbe: tcp(60) });
    await world.tick();
    await world.remove('a', 90);
    const itemsAfter: number[] = [];
    for (let minute = 0; minute < 3; minute += 1) {
      await world.toMinute();
      await world.tick();
      await world.clock.advance(0);
      itemsAfter.push((await world.itemsOf('a')).length);
    }
    const isThere = itemsAfter.map((count) => count > 0);
    assert.deepEqual(isThere, [true, false, false]);
  });

  inWorld('the end of a grace period in a minute in which nothing is probed', async (world) => {
    await world.put('a', { readinessProbe: tcp(3_600) });
    await world.tick();
    await world.remove('a', 90);
    await world.toMinute();
    assert.equal((await world.tick()).probes, 0);
    assert.notEqual((await world.itemsOf('a')).length, 0);
    await world.toMinute();
    assert.equal((await world.tick()).probes, 0);
    await world.clock.advance(0);
    assert.deepEqual(await world.itemsOf('a'), []);
  });

  inWorld('a restart request that is due again', async (world) => {
    await world.put('a', { livenessProbe: tcp(60, { failureThreshold: 1 }) });
    world.answers(failure);
    const attempts: unknown[] = [];
    for (let minute = 0; minute < 6; minute += 1) {
      await world.tick(cold());
      await world.clock.advance(0);
      attempts.push((await world.status('a')).restartRequests.main?.published);
      await world.toMinute();
    }
    // Of the back-offs 10, 20 and 40 s are over at the next run, 80 s take two.
    assert.deepEqual(attempts, [1, 2, 3, 4, 4, 5]);
  });

  inWorld('what status-sync has not heard of is published again by the next run', async (world) => {
    await world.put('a', { readinessProbe: tcp(60) });
    world.sync(false);
    await world.tick(cold());
    assert.equal((await world.status('a')).status.containerStatuses[0]?.ready ?? false, false);
    world.sync(true);
    await world.toMinute();
    await world.tick(cold());
    await world.clock.advance(0);
    assert.equal((await world.status('a')).status.containerStatuses[0]?.ready, true);
  });
});

describe('a prober in doubt', () => {
  for (const [name, options] of Object.entries({ 'in one process': () => ({}), 'each in another process': cold }))
    test(`keeps every result, waits until it is sure of itself, and then does what it owes: ${name}`, async () => {
      const world = tickWorld({ hasCanary: true });
      const { network } = world;
      const tick = () => world.tick(options());
      const readinessProbe = tcp(3_600, { failureThreshold: 1 });
      for (const target of ['a', 'b']) await world.put(target, { host: '10.0.0.1', readinessProbe });
      await tick();
      const result = async () => (await world.probe('a', 'main#readiness')).result;
      const degraded = async () => (await world.runRecord()).degraded;
      network.isDoubted = true;
      world.answers(failure);
      await world.trigger('a');
      for (const probes of [1, 0, 0]) {
        await world.toMinute();
        const blind = await tick();
        assert.deepEqual([blind.probes, await result(), await degraded()], [probes, 'success', true]);
        assert.ok(blind.tookMs > 50_000, 'it waits for its network');
      }
      network.isDoubted = false;
      await world.toMinute();
      const sound = await tick();
      assert.deepEqual([sound.probes, await result(), await degraded()], [1, 'failure', false]);
      assert.ok(sound.tookMs < 10_000);
      const publishedEvents = world.published
        .map((event) => event['detail-type'])
        .filter((type) => type.startsWith('Prober'));
      assert.deepEqual(publishedEvents, ['Prober Degraded', 'Prober Recovered']);
    });

  test('that was wrong does what it held back in the same run', async () => {
    const world = tickWorld({ hasCanary: true });
    const { network } = world;
    await world.put('a', { host: '10.0.0.1', readinessProbe: tcp(60, { failureThreshold: 1 }) });
    await world.tick();
    network.isDoubted = true;
    world.answers(failure);
    await world.toMinute();
    const running = world.begin();
    await world.clock.advance(500);
    network.isDoubted = false;
    assert.deepEqual(await world.clock.runUntil(running), { kind: 'slotDone' });
    assert.equal((await world.probe('a', 'main#readiness')).result, 'failure');
    assert.equal(world.takeProbed().length, 3);
  });
});
