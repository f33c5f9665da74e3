import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { descriptorsMax } from '../../shared/core/self/sockets.ts';
import type { ProbeInput } from '../../shared/core/spec/spec-input.ts';
import { transitionId } from '../../shared/holder/probing/events.ts';
import type { RunView } from '../../shared/holder/shard-run.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { decodeEvent } from '../../shared/store/records/items.ts';
import { bucketPk, changesPk, latestKey, runKey, targetAddress } from '../../shared/store/records/keys.ts';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { column } from '../support/columns.ts';
import { heldWorld, type ShardWorld, shardWorld } from '../support/shard-world.ts';
import { beforeWrite } from '../support/store-wraps.ts';
import { testsIn } from '../support/tests-in.ts';

const tcp: ProbeInput = { tcpSocket: { port: 1 }, periodSeconds: 1 };
const name = 'checkout';
const minuteMs = 60_000;

const failure = () => 'failure' as const;
const success = () => 'success' as const;

const resultOf = async (world: ShardWorld, probe: string) => (await world.probe(name, probe)).result;

const inWorld = testsIn(() => shardWorld());

describe('a claim that is in doubt', () => {
  for (const item of ['LAYOUT', 'RUN', 'EPOCH'])
    test(`of ${item} is a doubt, so that its message is not acknowledged`, async () => {
      let lost = false;
      const world = shardWorld({
        wrapStore: (store) => ({
          ...store,
          async write(operations, options) {
            const outcome = await store.write(operations, options);
            const isClaim = operations.some(
              ({ kind, ...rest }) => kind === 'update' && 'key' in rest && rest.key.sk === item,
            );
            return lost && isClaim ? { kind: 'inDoubt' } : outcome;
          },
        }),
      });
      await world.put(name, { readinessProbe: tcp });
      lost = true;
      const run = await world.run();
      await world.clock.advance(1_000);
      assert.equal((await run.ended).kind, 'doubt');
    });
});

const inHeld = testsIn(() => heldWorld({ [name]: { readinessProbe: tcp } }, 5_000));

describe('a streak', () => {
  inHeld('that breaks is in the store before the result can change', async ({ world }) => {
    const before = await world.probe(name, 'main#readiness');
    world.answer(failure);
    await world.clock.advance(1_000);
    const { result, lastResult, resultRun, streak, version } = await world.probe(name, 'main#readiness');
    assert.deepEqual([result, lastResult, resultRun], ['success', 'failure', 1]);
    assert.deepEqual([streak, version], [before.streak + 1, before.version]);
  });

  test('of equal results writes nothing', async () => {
    let writes = 0;
    const wrapStore = beforeWrite(() => {
      writes += 1;
      return undefined;
    });
    const { world } = await heldWorld({ [name]: { readinessProbe: tcp } }, 20_000, { wrapStore });
    const [writesBefore, probesBefore] = [writes, world.probes()];
    await world.clock.advance(30_000);
    assert.equal(writes - writesBefore, 6, 'the beat alone');
    assert.equal(world.probes() - probesBefore, 30);
  });
});

/** Failures until readiness turns after a crash in the middle of a run of failures. */
async function failuresAfterCrash(beforeCrashMs: number): Promise<{ readonly before: number; readonly after: number }> {
  const { world, run } = await heldWorld({ [name]: { readinessProbe: { ...tcp, failureThreshold: 200 } } }, 5_000);
  const healthy = world.probes();
  world.answer(failure);
  await world.clock.advance(beforeCrashMs);
  run.crash();
  const crashed = world.probes();
  await world.run();
  await world.until('not ready', async () => (await resultOf(world, 'main#readiness')) === 'failure');
  return { before: crashed - healthy, after: world.probes() - crashed };
}

describe('a run of failures that a crash interrupts', () => {
  test('continues from its last checkpoint, one minute after the run began', async () => {
    const { before, after } = await failuresAfterCrash(minuteMs);
    const lost = before + after - 200;
    assert.ok(lost > 0 && lost <= 7, `${lost} failures were lost`);
  });

  test('starts from its streak break without a checkpoint: later, never sooner', async () => {
    const { before, after } = await failuresAfterCrash(20_000);
    assert.ok(before > 1);
    assert.equal(after, 199);
  });

  test('is whole after a stop in order', async () => {
    const { world, run } = await heldWorld({ [name]: { readinessProbe: { ...tcp, failureThreshold: 30 } } }, 5_000);
    const healthy = world.probes();
    world.answer(failure);
    await world.clock.advance(20_000);
    await run.stop();
    await world.run();
    await world.until('not ready', async () => (await resultOf(world, 'main#readiness')) === 'failure');
    assert.equal(world.probes() - healthy, 30);
  });
});

inWorld('a checkpoint from before a hold does not count against the next container', async (world) => {
  const livenessProbe = { ...tcp, periodSeconds: 7, failureThreshold: 10 };
  await world.put(name, { lifecycle: 'reported', containers: [{ name: 'app', livenessProbe }] });
  await world.reportRunning(name, 'test://1');
  world.answer(failure);
  const run = await world.run();
  await world.until('on hold', async () => (await world.probe(name, 'app#liveness')).onHold);
  const [entry] = await world.checkpoint(name);
  assert.ok(entry && entry.resultRun > 1, 'a checkpoint was written on the way');
  run.crash();
  await world.reportRunning(name, 'test://2');
  // A run that takes over late probes at once.
  const before = world.probes();
  await world.run();
  await world.until('failed again', async () => {
    const { containerID, result } = await world.probe(name, 'app#liveness');
    return containerID === 'test://2' && result === 'failure';
  });
  assert.equal(world.probes() - before, 10);
});

inWorld('a crash after the commit of a new container that waits leaves no hold of the old one', async (world) => {
  await world.put(name, { lifecycle: 'reported', containers: [{ name: 'app', livenessProbe: { ...tcp } }] });
  await world.reportRunning(name, 'test://1');
  world.answer(failure);
  const run = await world.run();
  const probe = () => world.probe(name, 'app#liveness');
  await world.until('on hold', async () => (await probe()).onHold);
  world.bus.subscribe({ 'detail-type': ['Probe Result Changed'] }, ({ detail }) => {
    if ('containerID' in detail && detail.containerID === 'test://2') run.crash();
  });
  const waiting = [{ name: 'app', containerID: 'test://2', state: { waiting: { reason: 'ContainerCreating' } } }];
  await world.report(name, { containerStatuses: waiting });
  await world.until('the new container is known', async () => (await probe()).containerID === 'test://2');
  const { result, onHold } = await probe();
  assert.deepEqual({ result, onHold }, { result: 'failure', onHold: false });
  await world.reportRunning(name, 'test://2');
  const before = world.probes();
  await world.run();
  await world.clock.advance(60_000);
  assert.ok(world.probes() > before, 'the new container is probed');
});

test('a container that fails again after its restart is published with its own attempts alone', async () => {
  const world = shardWorld();
  await world.put(name, { livenessProbe: { ...tcp, failureThreshold: 2 } });
  world.answer(failure);
  await world.run();
  await world.clock.advance(9_000);
  await world.restarted(name);
  await world.clock.advance(20_000);
  const history = (await world.history(name)).filter(({ reason }) => reason !== 'Restarted');
  const publishedEvents = history.filter(
    ({ reason, result }) => reason !== 'ProbeResultChanged' || result === 'failure',
  );
  assert.deepEqual(
    publishedEvents.map(({ reason, attempts }) => [reason, attempts.length]),
    [
      ['Unhealthy', 1],
      ['ProbeResultChanged', 2],
      ['RestartRequested', 0],
      ['Unhealthy', 1],
      ['ProbeResultChanged', 2],
      ['RestartRequested', 0],
    ],
  );
});

test('a failure that turns the result at once is published before the result', async () => {
  const { world } = await heldWorld({ [name]: { readinessProbe: { ...tcp, failureThreshold: 1 } } }, 5_000);
  world.answer(failure);
  await world.clock.advance(2_000);
  const history = (await world.history(name)).map(({ reason, result }) => [reason, result]);
  assert.deepEqual(history.slice(-2), [
    ['Unhealthy', undefined],
    ['ProbeResultChanged', 'failure'],
  ]);
});

test('the transition behind the present result is kept without an expiry, until the next one and until the purge', async () => {
  const { world } = await heldWorld({ [name]: { readinessProbe: { ...tcp, failureThreshold: 2 } } });
  const key = latestKey(targetAddress('default', name), 'main#readiness');
  for (const [result, attempts] of [
    ['success', 1],
    ['failure', 2],
    ['success', 1],
  ] as const) {
    world.answer(() => result);
    await world.clock.advance(10_000);
    const item = await world.store.get(key);
    const decoded = item && decodeEvent(item);
    assert.ok(decoded?.kind === 'ok');
    const last = (await world.history(name)).findLast(({ kind }) => kind === 'transition');
    assert.deepEqual(decoded.record, last);
    assert.deepEqual([last?.result, last?.attempts.length], [result, attempts]);
    assert.equal(item?.expiresAt, undefined);
  }
  await world.remove(name, 0);
  await world.until('gone', async () => (await world.itemsOf(name)).length === 0);
  assert.equal(await world.store.get(key), undefined);
});

inWorld('the tenth change of one moment is published after the ninth', async (world) => {
  await world.put(name, { readinessProbe: tcp });
  const record = await world.probe(name, 'main#readiness');
  assert.ok(transitionId({ ...record, version: 9 }) < transitionId({ ...record, version: 10 }));
});

inWorld('probes that find no socket for a minute are named by the beat', async (world) => {
  const containers = Array.from({ length: 20 }, (_, at) => ({ name: `c${at}`, readinessProbe: tcp }));
  for (let at = 0; at * containers.length <= descriptorsMax; at += 1) await world.put(`t${at}`, { containers });
  world.answer(() => new Promise(() => {}));
  const run = await world.run();
  const full = (run: RunView | undefined) => run !== undefined && run.inFlight > 0 && run.inFlight < run.probes;
  await world.until('full', () => full(run.view()));
  await world.clock.advance(minuteMs);
  const beat = await world.store.get(runKey('00'));
  assert.ok(Object.keys(beat?.behind ?? {}).length > 0);
  run.crash();
});

describe('a commit that STATUS has not taken in', () => {
  const changesOf = (world: ShardWorld) => column(world.publishedEvents('Probe Result Changed'), 'id');

  inWorld('is published every 10 s until it has', async (world) => {
    await world.put(name, { readinessProbe: tcp });
    world.sync(false);
    await world.run();
    await world.clock.advance(35_000);
    const [last] = changesOf(world).slice(-1);
    assert.equal(changesOf(world).filter((id) => id === last).length, 4);
    world.sync(true);
    await world.clock.advance(20_000);
    const settled = changesOf(world).length;
    await world.clock.advance(30_000);
    assert.equal(changesOf(world).length, settled);
  });

  inWorld('is published by the next run if its own died before it could', async (world) => {
    await world.put(name, { readinessProbe: { ...tcp, periodSeconds: 60 } });
    world.sync(false);
    const run = await world.run();
    await world.clock.advance(5_000);
    run.crash();
    world.published.length = 0;
    world.sync(true);
    await world.run();
    await world.clock.advance(1_000);
    const { version, result } = await world.probe(name, 'main#readiness');
    assert.equal(result, 'success');
    assert.equal((await world.status(name)).acked['main#readiness'], version);
    assert.equal((await world.status(name)).status.containerStatuses[0]?.ready, true);
    const [publishedEvents] = world.publishedEvents('Probe Result Changed');
    const seen = [publishedEvents?.initial, publishedEvents?.result, publishedEvents?.attempts.length];
    assert.deepEqual(seen, [true, 'success', 1]);
  });
});

describe('a spec that changes while its target is held', () => {
  test('keeps the result until the new threshold is met', async () => {
    const { world } = await heldWorld({ [name]: { readinessProbe: { ...tcp, failureThreshold: 10 } } }, 5_000);
    world.answer(failure);
    await world.clock.advance(5_000);
    await world.put(name, { readinessProbe: { ...tcp, failureThreshold: 3 } });
    await world.clock.advance(2_000);
    assert.equal(await resultOf(world, 'main#readiness'), 'success');
    await world.clock.advance(3_000);
    assert.equal(await resultOf(world, 'main#readiness'), 'failure');
  });

  test('takes a shorter period at once, however far the next tick was', async () => {
    const { world } = await heldWorld({ [name]: { readinessProbe: { ...tcp, periodSeconds: 3_600 } } }, 5_000);
    const before = world.probes();
    await world.put(name, { readinessProbe: tcp });
    await world.clock.advance(12_000);
    assert.ok(world.probes() - before >= 10, `${world.probes() - before} probes`);
  });

  inHeld('counts nothing that was asked by the spec before', async ({ world }) => {
    const { version } = await world.probe(name, 'main#readiness');
    world.answer((request) =>
      request.kind === 'tcp' && request.port === 1 ? sleep(world.clock, 8_000).then(failure) : 'success',
    );
    await world.clock.advance(1_000);
    await world.put(name, { readinessProbe: { tcpSocket: { port: 2 }, periodSeconds: 1, failureThreshold: 1 } });
    await world.clock.advance(20_000);
    assert.equal((await world.probe(name, 'main#readiness')).version, version);
  });

  test('without a probe ends its worker; with it again begins a new one', async () => {
    const { world } = await heldWorld({ [name]: { readinessProbe: tcp, livenessProbe: tcp } }, 5_000);
    const before = await world.probe(name, 'main#liveness');
    await world.put(name, { readinessProbe: tcp });
    await world.clock.advance(3_000);
    const ended = await world.probe(name, 'main#liveness');
    assert.deepEqual([ended.ended, ended.result, ended.version], [true, undefined, before.version + 1]);
    assert.deepEqual(column(world.removedSeries, 'probeType'), ['liveness']);
    await world.put(name, { readinessProbe: tcp, livenessProbe: tcp });
    await world.clock.advance(3_000);
    const again = await world.probe(name, 'main#liveness');
    assert.deepEqual([again.ended, again.result], [false, 'success']);
  });

  test('that loses and regains a probe while it is probed changes nothing', async () => {
    const { world } = await heldWorld({ [name]: { readinessProbe: tcp, livenessProbe: tcp } }, 5_000);
    const { version } = await world.probe(name, 'main#liveness');
    world.answer(() => sleep(world.clock, 8_000).then(success));
    await world.clock.advance(1_000);
    await world.put(name, { readinessProbe: tcp });
    await world.clock.advance(2_000);
    await world.put(name, { readinessProbe: tcp, livenessProbe: tcp });
    await world.clock.advance(20_000);
    assert.equal((await world.probe(name, 'main#liveness')).version, version);
  });

  test('that regains a probe while its worker ends has a worker again', async () => {
    const world: ShardWorld = shardWorld({
      wrapStore: beforeWrite(async (operations) => {
        const ends = operations.some((operation) => operation.kind === 'update' && operation.set?.ended === true);
        if (ends) await sleep(world.clock, 4_000);
        return undefined;
      }),
    });
    await world.put(name, { readinessProbe: tcp, livenessProbe: tcp });
    await world.run();
    await world.clock.advance(5_000);
    await world.put(name, { readinessProbe: tcp });
    await world.clock.advance(2_500);
    await world.put(name, { readinessProbe: tcp, livenessProbe: tcp });
    await world.clock.advance(10_000);
    const { ended, result } = await world.probe(name, 'main#liveness');
    assert.deepEqual([ended, result], [false, 'success']);
  });
});

inWorld('a worker that ended with its container comes back with another one', async (world) => {
  const containers = [{ name: 'app', readinessProbe: tcp }];
  await world.put(name, { lifecycle: 'reported', restartPolicy: 'Never', containers });
  await world.reportRunning(name, 'test://1');
  await world.run();
  await world.clock.advance(5_000);
  const ended = [{ name: 'app', containerID: 'test://1', state: { terminated: { exitCode: 1 } } }];
  await world.report(name, { phase: 'Running', containerStatuses: ended });
  await world.until('ended', async () => (await world.probe(name, 'app#readiness')).ended, 5);
  await world.reportRunning(name, 'test://2');
  await world.clock.advance(4_000);
  const { containerID, result } = await world.probe(name, 'app#readiness');
  assert.deepEqual([containerID, result], ['test://2', 'success']);
});

inWorld('a terminal phase ends the workers for good, without going round in circles', async (world) => {
  await world.put(name, { lifecycle: 'reported', containers: [{ name: 'app', readinessProbe: tcp }] });
  await world.reportRunning(name, 'test://1', { phase: 'Failed' });
  await world.run();
  await world.until('ended', async () => (await world.probe(name, 'app#readiness')).ended, 5);
  const { version } = await world.probe(name, 'app#readiness');
  await world.clock.advance(minuteMs);
  assert.equal((await world.probe(name, 'app#readiness')).version, version);
  assert.equal(world.probes(), 0);
});

test('a purge leaves nothing of the target but its event history', async () => {
  const { world } = await heldWorld({ [name]: { readinessProbe: { ...tcp, failureThreshold: 1_000 } } }, 5_000);
  world.answer(failure);
  await world.clock.advance(2 * minuteMs);
  assert.notEqual((await world.checkpoint(name)).length, 0);
  await world.remove(name, 10);
  await world.clock.advance(9_000);
  assert.notEqual((await world.itemsOf(name)).length, 0);
  await world.clock.advance(3_000);
  assert.deepEqual(await world.itemsOf(name), []);
  await world.clock.advance(minuteMs);
  const left = await world.store.query({ pk: bucketPk(targetAddress('default', name).bucket) });
  assert.deepEqual(column(left, 'sk'), ['CHECKPOINT', 'EPOCH']);
  assert.deepEqual(await world.checkpoint(name), []);
});

test('what is on its way back to its phase when a run ends in order is probed by the next one at once', async () => {
  const world = shardWorld();
  const probedAtMs: number[] = [];
  world.answer(() => {
    probedAtMs.push(world.clock.nowMs());
    return 'success';
  });
  const last = () => probedAtMs.at(-1) ?? 0;
  await world.put(name, { readinessProbe: { ...tcp, periodSeconds: 30 } });
  const first = await world.run();
  await world.clock.advance(90_000);
  const phaseMs = last();
  first.crash();
  await world.clock.advance(phaseMs + 38_000 - world.clock.nowMs());
  const second = await world.run();
  assert.equal(last(), phaseMs + 38_000, 'an instant that nobody held is made up for');
  await world.clock.advance(26_000);
  await second.stop();
  await world.run();
  assert.equal(last(), phaseMs + 64_000, 'its next instant is 52 s after its last probe');
});

inWorld('what a manual trigger has shifted is probed at once by the next run too', async (world) => {
  const probedAtMs: number[] = [];
  world.answer(() => {
    probedAtMs.push(world.clock.nowMs());
    return 'success';
  });
  await world.put(name, { readinessProbe: { ...tcp, periodSeconds: 30 } });
  const first = await world.run();
  await world.clock.advance(90_000);
  const phaseMs = probedAtMs.at(-1) ?? 0;
  await world.clock.advance(phaseMs + 20_000 - world.clock.nowMs());
  await world.trigger(name);
  await world.clock.advance(14_000);
  const triggeredMs = probedAtMs.at(-1) ?? 0;
  assert.ok(triggeredMs < phaseMs + 25_000);
  await first.stop();
  await world.run();
  await world.clock.advance(1_000);
  assert.ok((probedAtMs.at(-1) ?? 0) - triggeredMs < 16_000, 'its next instant is 40 s after its last probe');
});

describe('a run', () => {
  inHeld('that is stopped within its slot is followed by another in the same slot', async ({ world, run: first }) => {
    assert.deepEqual(await first.stop(), { kind: 'handover' });
    const before = world.probes();
    await world.run();
    await world.clock.advance(5_000);
    assert.ok(world.probes() > before);
  });

  inWorld('that hands a rescue over says so by its last beat', async (world) => {
    const run = await world.run({ kind: 'rescue' });
    await world.clock.advance(12_000);
    assert.equal((await world.store.get(runKey('00')))?.beat, 2);
    assert.deepEqual(await run.stop(), { kind: 'handover' });
    const after = await world.store.get(runKey('00'));
    assert.deepEqual([after?.beat, after?.doneSlot], [-1, -1]);
  });

  inHeld('ends, and commits nothing more, when another has taken its shard', async ({ world, run: first }) => {
    const second = await world.run();
    world.answer(failure);
    await world.clock.advance(10_000);
    assert.deepEqual(await first.ended, { kind: 'fenced' });
    assert.equal((await world.probe(name, 'main#readiness')).result, 'failure');
    assert.equal(second.view()?.probes, 1);
  });

  inWorld('whose slot has been done already ends without a word of doubt', async (world) => {
    const first = await world.run();
    const { slotEndMs } = world.message();
    // A moment early, as a timer may be by the wall clock.
    await world.clock.advance(slotEndMs - world.clock.nowMs());
    assert.deepEqual(await first.ended, { kind: 'slotDone' });
    await world.store.write([{ kind: 'update', key: runKey('00'), set: { doneSlot: world.message().slot } }], {
      token: 'done',
    });
    assert.deepEqual(await (await world.run()).ended, { kind: 'stale' });
    const warnings = world.log.lines.filter(({ level }) => level !== 'info');
    assert.deepEqual(warnings, []);
  });

  inWorld('says for how long the status has not taken in what its probes have found', async (world) => {
    await world.put(name, { readinessProbe: { ...tcp, periodSeconds: 5, failureThreshold: 1 } });
    const run = await world.run();
    await world.clock.advance(30_000);
    assert.equal(run.view()?.statusBehindMs, 0);
    world.sync(false);
    world.answer(() => 'failure');
    await world.clock.advance(10_000);
    const first = run.view()?.statusBehindMs ?? 0;
    assert.ok(first > 0 && first <= 10_000, `${first} ms`);
    // A change of another probe result does not make the older one younger.
    world.answer(() => 'success');
    await world.clock.advance(60_000);
    assert.equal(run.view()?.statusBehindMs, first + 60_000);
    world.sync(true);
    await world.clock.advance(30_000);
    assert.equal(run.view()?.statusBehindMs, 0);
  });

  inWorld('leaves no timer behind', async (world) => {
    await world.put(name, { readinessProbe: tcp });
    const before = world.clock.pending();
    const run = await world.run();
    await world.clock.advance(5_000);
    world.answer(success);
    await run.stop();
    assert.equal(world.clock.pending(), before);
  });

  test('ends in doubt when a part of it throws, and does not go on without that part', async () => {
    let isBroken = false;
    const world = shardWorld({
      wrapStore: (store) => ({
        ...store,
        query: (query) =>
          isBroken && query.pk === changesPk ? Promise.reject(new Error('a bug')) : store.query(query),
      }),
    });
    await world.put(name, { readinessProbe: tcp });
    const run = await world.run();
    await world.clock.advance(7_000);
    isBroken = true;
    await world.clock.advance(6_000);
    const end = await Promise.race([run.ended, 'goes on']);
    assert.deepEqual(end, { kind: 'doubt', reason: 'a part of the run failed' });
    const [line] = world.log.lines.filter(({ level }) => level === 'error');
    assert.equal((line?.fields?.cause as Error | undefined)?.message, 'a bug');
  });

  for (const [cause, level, reason] of [
    [new StoreUnavailable('a test'), 'warn', 'store or queue out of reach'],
    [new Error('a bug'), 'error', 'an exception'],
  ] as const)
    test(`says at level ${level} that it failed before it began, by ${cause.name}`, async () => {
      const world = shardWorld({
        wrapStore: (store) => ({
          ...store,
          get: (key, options) => (key.sk === 'RUN' ? Promise.reject(cause) : store.get(key, options)),
        }),
      });
      const run = await world.run();
      assert.deepEqual(await world.clock.runUntil(run.ended), { kind: 'doubt', reason });
      const lines = world.log.lines.filter(({ message }) => message === 'run failed');
      assert.deepEqual(
        lines.map((line) => [line.level, line.fields?.cause]),
        [[level, cause]],
      );
    });

  test('hands a slot over to the next without a gap', async () => {
    const { world, run: first } = await heldWorld({ [name]: { readinessProbe: tcp } });
    const { slotEndMs } = world.message();
    await world.clock.advance(slotEndMs - world.clock.nowMs());
    assert.deepEqual(await first.ended, { kind: 'slotDone' });
    const before = world.probes();
    await world.run();
    await world.clock.advance(10_000);
    assert.ok(world.probes() - before >= 9);
  });
});
