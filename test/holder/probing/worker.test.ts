import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BacklogClass } from '../../../shared/core/self/sockets.ts';
import type { CommitQueue } from '../../../shared/holder/commit/queue.ts';
import { adoptTarget } from '../../../shared/holder/probing/reconcile.ts';
import { newSocketBudget } from '../../../shared/holder/probing/sockets.ts';
import { sleep } from '../../../shared/lib/clock.ts';
import type { ProbeMetrics } from '../../../shared/prober/metrics.ts';
import { readTarget } from '../../../shared/table/targets.ts';
import { bareHolder, holderWith } from '../../support/bare-holder.ts';
import { proberError } from '../../support/prober-error.ts';
import { failing, healthy, heldWorld, probedWorld, shardWorld } from '../../support/shard-world.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const readinessProbe = { tcpSocket: { port: 1 }, periodSeconds: 10 };

describe('the metrics of a probe', () => {
  for (const [what, answer, result] of [
    ['success', 'success', 'successful'],
    ['failure', 'failure', 'failed'],
    ['prober error', proberError('PROBER'), 'unknown'],
  ] as const)
    test(`of a ${what} count it as ${result}, with how long it took`, async () => {
      const observed: Parameters<ProbeMetrics['observe']>[] = [];
      const metrics: ProbeMetrics = { observe: (...one) => void observed.push(one), remove: () => {} };
      const world = shardWorld();
      world.answer(() => sleep(world.clock, 250).then(() => answer));
      await world.put('checkout', { readinessProbe });
      await world.run({}, { metrics });
      await world.clock.advance(25_000);
      assert.ok(observed.length >= 2);
      for (const [{ pod, container, probeType }, counted, seconds] of observed)
        assert.deepEqual(
          [pod, container, probeType, counted, seconds],
          ['checkout', 'main', 'readiness', result, 0.25],
        );
    });
});

describe('a probe with a time-out of 1 s that takes', () => {
  for (const [ms, backlogClass] of [
    [300, 'steady'],
    [1_000, 'hanging'],
  ] as const)
    test(`${ms} ms is ${backlogClass} when its next place is given`, async () => {
      const inner = newSocketBudget(virtualClock());
      const taken: BacklogClass[] = [];
      const socketBudget = {
        ...inner,
        take(of: BacklogClass, descriptors: number) {
          taken.push(of);
          return inner.take(of, descriptors);
        },
      };
      const world = await probedWorld({ targets: 1, socketBudget });
      world.answer(() => ({ outcome: 'success', ms }));
      const run = await world.hold();
      await world.clock.advance(25_000);
      assert.deepEqual([...new Set(taken)], ['new', backlogClass]);
      await run.stop();
    });
});

/** The worker of the one target's readiness probe, whose cycle the test runs. */
async function bareWorker(probe: object = readinessProbe) {
  const world = shardWorld();
  await world.put('checkout', { readinessProbe: probe });
  const { holder, hold } = bareHolder(world);
  const held = await hold('checkout');
  const worker = held.workers.get('main#readiness');
  assert.ok(worker);
  return { world, holder, held, worker };
}

test('a worker whose probe has left the spec ends without another probe, and forgets the spec that it ended by', async () => {
  const { world, holder, worker } = await bareWorker();
  worker.stop(holder);
  const place = newSocketBudget(world.clock).take('new', 1);
  const end = await world.clock.runUntil(worker.cycle(holder, place));
  const { ended, specDigest, version } = await world.probe('checkout', 'main#readiness');
  assert.deepEqual({ end, ended, specDigest, version }, { end: 'over', ended: true, specDigest: '', version: 0 });
  assert.deepEqual([world.probes(), place.hasLeft()], [0, true]);
});

test('a target whose failure is held back in a surge has been seen', async () => {
  const { world, holder, worker } = await bareWorker({ ...readinessProbe, failureThreshold: 1 });
  world.answer(() => 'success');
  const asked: boolean[] = [];
  const cycle = async (mayTurn: boolean) => {
    const ask = () => asked.push(mayTurn) > 0 && mayTurn;
    const surgeLimit = { ask, surge: () => undefined, heldBack: () => 0 };
    const place = newSocketBudget(world.clock).take('new', 1);
    return world.clock.runUntil(worker.cycle(holderWith(holder, { surgeLimit }), place));
  };
  const ends = [await cycle(true), await cycle(true)];
  assert.deepEqual(ends, ['again', 'over'], 'the new container, then its first probe');
  assert.equal(worker.verdict.record.result, 'success');
  await world.clock.advance(100_000);
  world.answer(() => 'failure');
  assert.equal(await cycle(false), 'over');
  assert.deepEqual(asked, [false]);
  assert.deepEqual([worker.verdict.record.result, worker.seenAtMs], ['success', world.clock.nowMs()]);
});

test('a spec that changes while the commit of a result is under way starts the counters again', async () => {
  const { world, holder, held, worker } = await bareWorker();
  world.answer(() => 'success');
  const cycle = (commits = holder.commits) => {
    const place = newSocketBudget(world.clock).take('new', 1);
    return world.clock.runUntil(worker.cycle(holderWith(holder, { commits }), place));
  };
  await cycle();
  const changing: CommitQueue = {
    ...holder.commits,
    isScarce: () => false,
    async submit(commit) {
      const result = await holder.commits.submit(commit);
      await world.put('checkout', { readinessProbe: { ...readinessProbe, successThreshold: 3 } });
      const read = await readTarget(world.store, held.address);
      if (read) adoptTarget(holder, read, {});
      return result;
    },
  };
  await cycle(changing);
  assert.equal(worker.verdict.record.result, 'success');
  assert.deepEqual([worker.verdict.state.resultRun, worker.verdict.state.lastResult], [0, undefined]);
});

test('a denied dial makes the result unknown at once, until the next verdict', async () => {
  const { world } = await heldWorld({ checkout: { readinessProbe } }, 15_000);
  const stored = async () => {
    const { result, unknown } = await world.probe('checkout', 'main#readiness');
    const ready = (await world.status('checkout')).status.conditions.find(({ type }) => type === 'Ready');
    return [result, unknown?.reason, ready?.status, ready?.reason];
  };
  assert.deepEqual(await stored(), ['success', undefined, 'True', undefined]);
  world.answer(() => proberError('POLICY_DENIED'));
  await world.clock.advance(10_000);
  assert.deepEqual(await stored(), ['success', 'PolicyDenied', 'Unknown', 'PolicyDenied']);
  world.answer(() => 'success');
  await world.clock.advance(10_000);
  assert.deepEqual(await stored(), ['success', undefined, 'True', undefined]);
});

test('failures before and after a doubt do not add up across a success in it', async () => {
  const world = await probedWorld({ targets: 2, probe: { failureThreshold: 3 } });
  const { clock, network } = world;
  const run = await world.hold();
  await clock.advance(40_000);
  const result = async () => (await world.shown('target-1')).probes[0]?.result;
  const untilDegraded = async (degraded: boolean) => {
    await world.until(`degraded: ${degraded}`, async () => (await world.runRecord()).degraded === degraded, 60);
  };
  let failures = 0;
  world.answer((_, port) => {
    if (port !== 1) return healthy;
    failures += 1;
    return failing;
  });
  for (let second = 0; second < 30 && failures < 2; second += 1) await clock.advance(1_000);
  assert.equal(failures, 2);
  network.isDoubted = true;
  world.answer(() => failing);
  await untilDegraded(true);
  world.answer((_, port) => (port === 1 ? healthy : failing));
  await clock.advance(15_000);
  network.isDoubted = false;
  world.answer((_, port) => (port === 1 ? failing : healthy));
  await untilDegraded(false);
  await clock.advance(11_000);
  assert.equal(await result(), 'success');
  await clock.advance(30_000);
  assert.equal(await result(), 'failure', 'three of them in a row count');
  await run.stop();
});
