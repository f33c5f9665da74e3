import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadedTicker, newTargetTicker, readyWakes } from '../../../shared/core/kubelet/ticker.ts';
import { descriptorsMax } from '../../../shared/core/self/sockets.ts';
import { DueLoop, type Steps } from '../../../shared/holder/probing/due-loop.ts';
import { newSocketBudget } from '../../../shared/holder/probing/sockets.ts';
import type { Worker } from '../../../shared/holder/probing/worker.ts';
import type { Run } from '../../../shared/holder/run.ts';
import { sleep } from '../../../shared/lib/clock.ts';
import { StoreUnavailable } from '../../../shared/store/store.ts';
import { column } from '../../support/columns.ts';
import { heldTargetOf, workerOf } from '../../support/held-workers.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { testsIn } from '../../support/tests-in.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

/** A loop over one target with one probe of a 10 s period; nothing of them is looked at but what the loop needs. */
function loopOfOne() {
  const clock = virtualClock();
  const log = recordingLog();
  const run = { ports: { clock, log }, message: {}, ended: () => undefined } as unknown as Run;
  const held = heldTargetOf();
  const worker = workerOf(held, 'app', newTargetTicker(clock.nowMs(), { phaseMs: 0, periodMs: 10_000 }));
  return { clock, log, held, worker, loop: new DueLoop(run) };
}

const jumped = () => undefined;
const inLoop = testsIn(() => loopOfOne());

inLoop('a worker continues after a cycle that threw', async ({ clock, log, worker, loop }) => {
  let cycles = 0;
  const cycle = async () => {
    cycles += 1;
    throw new Error('a panic inside one probe');
  };
  loop.start({ cycle, tend: async () => undefined, jumped });
  loop.schedule(worker);
  await clock.advance(60_000);
  assert.ok(cycles >= 5, `${cycles} cycles`);
  assert.equal(loop.inFlight(), 0);
  assert.equal(log.lines[0]?.level, 'error');
});

inLoop('a target is looked at again after the store was unavailable', async ({ clock, log, held, loop }) => {
  let looks = 0;
  const tend = async () => {
    looks += 1;
    if (looks < 3) throw new StoreUnavailable('for a while');
  };
  loop.start({ cycle: async () => 'over', tend, jumped });
  loop.scheduleTarget(held, clock.nowMs());
  await clock.advance(60_000);
  assert.equal(looks, 3);
  assert.deepEqual(column(log.lines, 'level'), ['warn', 'warn']);
});

inLoop('a loop is quiet only when nothing is under way and nothing is due now', async ({ clock, held, loop }) => {
  const look = Promise.withResolvers<void>();
  loop.start({ cycle: async () => 'over', tend: () => look.promise, jumped });
  assert.equal(loop.isQuiet(), true);
  loop.scheduleTarget(held, clock.nowMs() + 100);
  assert.equal(loop.isQuiet(), true, 'due later');
  loop.scheduleTarget(held, clock.nowMs());
  assert.equal(loop.isQuiet(), false, 'due now');
  await clock.advance(1_000);
  assert.equal(loop.isQuiet(), false, 'under way');
  look.resolve();
  await clock.advance(0);
  assert.equal(loop.isQuiet(), true);
});

/**
 * A loop over probes; those named `hanging-…` take as long as their time-out, the others `answerMs`; to begin costs
 * `beginMs` of CPU.
 */
function loopOfMany(
  names: readonly string[],
  timeoutMs: number,
  { clock = virtualClock(), socketBudget = newSocketBudget(clock), periodMs = 10_000, answerMs = 0, beginMs = 0 } = {},
) {
  const run = { ports: { clock, log: recordingLog() }, message: {}, ended: () => undefined } as unknown as Run;
  const loop = new DueLoop(run, socketBudget);
  const held = heldTargetOf();
  const begun: { readonly name: string; readonly atMs: number }[] = [];
  const cycle: Steps['cycle'] = async (worker) => {
    const name = nameOf(worker);
    begun.push({ name, atMs: clock.nowMs() });
    // As in a real cycle, where the gate comes first: the costly part begins when the loop is at the next probe.
    await undefined;
    if (beginMs > 0) clock.stand(beginMs);
    const isHanging = name.startsWith('hanging');
    if (isHanging) await sleep(clock, timeoutMs);
    else if (answerMs > 0) await sleep(clock, answerMs);
    worker.classify(isHanging ? timeoutMs : 0);
    return 'over';
  };
  const workers = names.map((name, at) => {
    const phased = { phaseMs: Math.floor((at * periodMs) / names.length), periodMs };
    const probe = { periodSeconds: periodMs / 1_000, timeoutSeconds: timeoutMs / 1_000 };
    return workerOf(held, name, loadedTicker(clock.nowMs(), phased), probe);
  });
  const jumps: number[] = [];
  const start = () => {
    const onJump = (jumpMs: number) => {
      jumps.push(jumpMs);
      for (const worker of workers) {
        worker.shift(jumpMs, clock.nowMs());
        loop.schedule(worker);
      }
    };
    loop.start({ cycle, tend: async () => undefined, jumped: onJump });
    for (const worker of workers) loop.schedule(worker);
  };
  const beginsOf = (name: string) => begun.filter((begin) => begin.name === name).map(({ atMs }) => atMs);
  return { clock, loop, begun, workers, jumps, start, beginsOf };
}

/** That of its container. */
const nameOf = ({ labels }: Worker): string => labels.container;

/** Mixed evenly, so that neither kind has the better phases. */
function mixed(hanging: number, healthy: number): readonly string[] {
  const every = (hanging + healthy) / healthy;
  return Array.from({ length: hanging + healthy }, (_, at) =>
    Math.floor((at + 1) / every) > Math.floor(at / every) ? `healthy-${at}` : `hanging-${at}`,
  );
}

const gaps = (times: readonly number[]) => times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));

test('hundreds of targets that hang for longer than their period make no healthy one late', async () => {
  const { clock, loop, begun, start, beginsOf } = loopOfMany(mixed(1_500, 100), 15_000);
  start();
  // Until each of them has been asked once.
  await clock.advance(90_000);
  begun.length = 0;
  await clock.advance(120_000);
  const names = [...new Set(begun.map(({ name }) => name))].filter((name) => name.startsWith('healthy'));
  assert.equal(names.length, 100);
  for (const name of names) for (const gapMs of gaps(beginsOf(name))) assert.equal(gapMs, 10_000, name);
  assert.ok(loop.inFlight() <= 350, `${loop.inFlight()} hang at once`);
  assert.equal(loop.behind(), false);
});

test('the runs of one process share its socket budget, and each gets a part', async () => {
  const clock = virtualClock();
  const shared = { clock, socketBudget: newSocketBudget(clock) };
  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
  const large = loopOfMany(names('hanging-large', 1_500), 15_000, shared);
  const small = loopOfMany([...names('hanging-small', 300), ...names('healthy', 50)], 15_000, shared);
  for (const { start } of [large, small]) start();
  const inFlight: number[] = [];
  for (let second = 0; second < 240; second += 1) {
    await shared.clock.advance(1_000);
    inFlight.push(large.loop.inFlight() + small.loop.inFlight());
  }
  assert.ok(Math.max(...inFlight) <= descriptorsMax, `${Math.max(...inFlight)} at once`);
  const later = shared.clock.nowMs() - 200_000;
  const begunOf = (begun: readonly { readonly name: string; readonly atMs: number }[], prefix: string) =>
    begun.filter(({ name, atMs }) => name.startsWith(prefix) && atMs > later).length;
  assert.ok(begunOf(small.begun, 'healthy') >= 50 * 20, 'none of them waits');
  const turns = [begunOf(large.begun, 'hanging') / 1_500, begunOf(small.begun, 'hanging') / 300];
  assert.ok(Math.min(...turns) > 1, `turns ${turns.join(' and ')}`);
  await Promise.all([large, small].map(({ loop }) => shared.clock.runUntil(loop.stopped())));
});

test('targets that hang take turns with the sockets that they get', async () => {
  const hanging = Array.from({ length: 1_000 }, (_, at) => `hanging-${at}`);
  const { clock, begun, start } = loopOfMany(hanging, 15_000);
  start();
  await clock.advance(120_000);
  const counts = new Map<string, number>();
  for (const { name } of begun) counts.set(name, (counts.get(name) ?? 0) + 1);
  assert.equal(counts.size, 1_000, 'all of them are asked');
  const [least, most] = [Math.min(...counts.values()), Math.max(...counts.values())];
  assert.ok(most - least <= 2, `between ${least} and ${most} times`);
});

test('probes that were never begun do not starve behind those that are due again', async () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `healthy-${at}`);
  const { clock, begun, start } = loopOfMany(names, 1_000, { periodMs: 1_000, answerMs: 250 });
  start();
  await clock.advance(5_000);
  assert.equal(new Set(begun.map(({ name }) => name)).size, 10_000, 'probes begun within 5 s');
});

test('a probe that had to wait for a socket keeps 0.9 period to the next one', async () => {
  const { clock, begun, start, beginsOf } = loopOfMany(mixed(1_000, 10), 15_000);
  start();
  await clock.advance(180_000);
  for (const name of new Set(begun.map((begin) => begin.name)))
    for (const gapMs of gaps(beginsOf(name))) assert.ok(gapMs >= 9_000, `${name}: ${gapMs} ms`);
});

for (const jumpMs of [3_600_000, -3_600_000])
  test(`a wall clock that jumps by ${jumpMs / 60_000} min changes nothing in the rhythm`, async () => {
    const names = Array.from({ length: 20 }, (_, at) => `healthy-${at}`);
    const { clock, begun, jumps, start } = loopOfMany(names, 1_000);
    start();
    await clock.advance(20_000);
    const before = begun.length;
    clock.jump(jumpMs);
    await clock.advance(1_000);
    assert.ok(begun.length - before <= 4, `${begun.length - before} at once`);
    await clock.advance(19_000);
    assert.deepEqual(jumps, [jumpMs]);
    assert.equal(begun.length - before, 40);
  });

test('what is in flight when the run ends is pending', async () => {
  const { clock, loop, workers, start } = loopOfMany(['hanging-0', 'healthy-1'], 60_000);
  start();
  await clock.advance(15_000);
  const stopped = loop.stopped();
  loop.abandon();
  assert.deepEqual(
    workers.map(({ pending, ticker }) => [pending, readyWakes(ticker)]),
    [
      [true, ['tick']],
      [false, []],
    ],
  );
  await clock.runUntil(stopped);
});

test('hundreds of probes that are due at once begin over several turns of the event loop', async () => {
  const clock = virtualClock();
  const names = Array.from({ length: 500 }, (_, at) => `healthy-${at}`);
  const { begun, workers, start } = loopOfMany(names, 1_000, { clock, beginMs: 1 });
  for (const worker of workers) worker.restart({ ...worker.ticker, tickHeld: true });
  const begunByTurn = [0];
  const turn = () => {
    begunByTurn.push(begun.length);
    if (begun.length < names.length) clock.setTimer(0, turn);
  };
  start();
  clock.setTimer(0, turn);
  await clock.advance(100);
  const most = Math.max(...begunByTurn.map((count, at) => count - (begunByTurn[at - 1] ?? 0)));
  assert.ok(most <= 8, `${most} begun in one turn`);
});

test('thousands of probes that each leave their place at once begin without exhausting the stack', async () => {
  const waiting = 5_000;
  const clock = virtualClock();
  const socketBudget = newSocketBudget(clock);
  const first = socketBudget.take('steady', descriptorsMax);
  const log = recordingLog();
  const run = { ports: { clock, log }, message: {}, ended: () => undefined } as unknown as Run;
  const loop = new DueLoop(run, socketBudget);
  const held = heldTargetOf();
  const workers = Array.from({ length: waiting }, (_, at) =>
    workerOf(held, `app-${at}`, newTargetTicker(clock.nowMs(), { phaseMs: 0, periodMs: 10_000 })),
  );
  const begun = new Set<string>();
  // As a cycle does whose gate has something to commit: it needs no socket meanwhile.
  const cycle: Steps['cycle'] = async (worker, place) => {
    begun.add(worker.name);
    place.leave();
    return 'over';
  };
  loop.start({ cycle, tend: async () => undefined, jumped });
  for (const worker of workers) loop.schedule(worker);
  await clock.advance(1_000);
  assert.equal(begun.size, 0, 'all places are taken');
  first.leave();
  await clock.advance(1_000);
  assert.deepEqual(log.lines, []);
  assert.equal(begun.size, waiting);
});

/** What the loop says of its load at each beat of this time. */
async function loadsOf({ clock, loop }: ReturnType<typeof loopOfMany>, forMs: number, stepMs = 50) {
  const seen: (string | undefined)[] = [];
  const beganAtMs = clock.monotonicMs();
  for (let lookMs = 5_000; lookMs <= forMs; lookMs += 5_000) {
    // In steps, because begins take time, too.
    while (clock.monotonicMs() - beganAtMs < lookMs) await clock.advance(stepMs);
    seen.push(loop.overload()?.reason);
  }
  return seen;
}

/** How often each probe has begun since then. */
const turnsOf = ({ begun, workers }: ReturnType<typeof loopOfMany>) =>
  workers.map((worker) => begun.filter(({ name }) => name === nameOf(worker)).length);

/** As Node's: no timer is shorter than 1 ms, so the time of a loop that is always late passes, too. */
function nodeClock() {
  const clock = virtualClock();
  return { ...clock, setTimer: (ms: number, callback: () => void) => clock.setTimer(Math.max(1, ms), callback) };
}

const healthy = (count: number) => Array.from({ length: count }, (_, at) => `healthy-${at}`);

test('a prober that keeps up says nothing, and its probes begin in time', async () => {
  const many = loopOfMany(healthy(100), 1_000, { periodMs: 1_000, beginMs: 1 });
  many.start();
  assert.deepEqual(new Set(await loadsOf(many, 60_000)), new Set([undefined]));
  const { buckets, count } = many.loop.lateness();
  assert.equal(buckets.find(({ leMs }) => leMs === 1_000)?.count, count);
});

test('with five times as many probes as the CPU can begin, all come late alike, and the prober is overloaded', async () => {
  const many = loopOfMany(healthy(200), 1_000, { clock: nodeClock(), periodMs: 1_000, beginMs: 25 });
  many.start();
  const loads = await loadsOf(many, 60_000, 1);
  assert.equal(loads[0], undefined);
  assert.equal(loads.at(-1), 'Cpu');
  const turns = turnsOf(many);
  assert.ok(Math.max(...turns) - Math.min(...turns) <= 1, `between ${Math.min(...turns)} and ${Math.max(...turns)}`);
  const { count, sumMs } = many.loop.lateness();
  assert.equal(count, many.begun.length);
  assert.ok(sumMs / count > 1_000, `${sumMs / count} ms`);
});

test('with more probes under way than there are sockets the prober lacks sockets', async () => {
  const clock = virtualClock();
  const many = loopOfMany(healthy(400), 1_000, {
    clock,
    socketBudget: newSocketBudget(clock, 10),
    periodMs: 1_000,
    answerMs: 200,
  });
  many.start();
  const loads = await loadsOf(many, 60_000);
  assert.equal(loads.at(-1), 'Sockets');
  // Until each of them had been asked once, those that had been asked before could use the sockets kept for them.
  many.begun.length = 0;
  await loadsOf(many, 60_000);
  const turns = turnsOf(many);
  assert.ok(Math.max(...turns) - Math.min(...turns) <= 1, `between ${Math.min(...turns)} and ${Math.max(...turns)}`);
});

test('an overload ends when its prober keeps up, also that of the run before', async () => {
  const many = loopOfMany(healthy(10), 1_000, { periodMs: 1_000 });
  many.loop.inheritOverload();
  many.start();
  const loads = await loadsOf(many, 60_000);
  assert.deepEqual([loads[0], loads.at(-1)], ['Cpu', undefined]);
});
