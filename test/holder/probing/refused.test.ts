/** Probes whose socket the prober's own machine refuses are late, and no result of their targets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { socketsMin } from '../../../shared/core/self/sockets.ts';
import { newSocketBudget } from '../../../shared/holder/probing/sockets.ts';
import { type Clock, sleep } from '../../../shared/lib/clock.ts';
import type { Prober } from '../../../shared/prober/prober.ts';
import { heldTargetOf, workerOf } from '../../support/held-workers.ts';
import { proberError } from '../../support/prober-error.ts';
import { failing, probedWorld, type ShardRun, type ShardWorld } from '../../support/shard-world.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const answerMs = 1_500;

/** A machine that carries so many sockets at once; it refuses the others with `code`. */
function machine(clock: Clock) {
  const state = { carries: Number.POSITIVE_INFINITY, code: 'EMFILE', open: 0, openMax: 0, refused: 0 };
  const made = new Map<number, number>();
  const probe: Prober = async (request, permit) => {
    const port = 'port' in request ? request.port : 0;
    if (state.open >= state.carries) {
      state.refused += 1;
      permit?.refused(state.code);
      return proberError('PROBER');
    }
    state.open += 1;
    state.openMax = Math.max(state.openMax, state.open);
    await sleep(clock, answerMs);
    state.open -= 1;
    made.set(port, (made.get(port) ?? 0) + 1);
    return { outcome: 'success', output: '', timings: { totalMs: answerMs } };
  };
  return { state, made, probers: { http: probe, tcp: probe, grpc: probe, exec: probe } };
}

type Held = {
  readonly world: ShardWorld;
  readonly run: ShardRun;
  readonly machine: ReturnType<typeof machine>;
  readonly lowered: () => number | undefined;
};

async function onMachine(targets: number): Promise<Held> {
  const socketBudget = newSocketBudget({ monotonicMs: () => world.clock.monotonicMs() });
  const world: ShardWorld = await probedWorld({ targets, socketBudget, probe: { timeoutSeconds: 4 } });
  const of = machine(world.clock);
  const run = await world.run({ slotEndMs: world.clock.nowMs() + 3_600_000 }, { probers: of.probers });
  await world.clock.advance(60_000);
  of.made.clear();
  return { world, run, machine: of, lowered: socketBudget.lowered };
}

/** Targets and a canary, which the machine can refuse to dial. */
async function withCanary() {
  const socketBudget = newSocketBudget({ monotonicMs: () => world.clock.monotonicMs() });
  const world: ShardWorld = await probedWorld({ targets: 5, socketBudget });
  const dialing = { isRefused: false };
  const { dial } = world.ports();
  const refused = { kind: 'failed', failureClass: 'PROBER', code: 'EMFILE', message: 'too many open files' } as const;
  const slotEndMs = world.clock.nowMs() + 3_600_000;
  const run = await world.run(
    { slotEndMs },
    { dial: (request) => (dialing.isRefused ? Promise.resolve(refused) : dial(request)) },
  );
  await world.clock.advance(60_000);
  return { world, run, dialing, lowered: socketBudget.lowered };
}

const resultsOf = (world: ShardWorld) => world.publishedEvents('Probe Result Changed').map(({ result }) => result);

for (const [lacked, times] of [
  ['sockets', 80],
  ['other', 20],
] as const)
  test(`an attempt that is refused for want of ${lacked} is put back ${times} times`, () => {
    const worker = workerOf(heldTargetOf());
    const conclusion = { kind: 'error', error: 'refused', failureClass: 'PROBER' } as const;
    const again = Array.from({ length: times + 1 }, () => worker.putBack({ conclusion, attempts: [] }, lacked));
    assert.deepEqual(again, [...Array.from({ length: times }, () => true), false]);
  });

test('with more due than the machine carries all probes are late, each is made, and none is unknown', async () => {
  const { world, run, machine: of, lowered } = await onMachine(200);
  of.state.carries = 20;
  await world.clock.advance(120_000);
  assert.equal(of.made.size, 200);
  assert.ok(Math.min(...of.made.values()) >= 5, `at least ${Math.min(...of.made.values())} times`);
  assert.deepEqual([...new Set(resultsOf(world))], ['success']);
  assert.deepEqual([run.view()?.beat.late, run.view()?.beat.overload?.reason], [0, 'Sockets']);
  assert.equal(run.view()?.beat.overload?.socketsMax, lowered());
  assert.deepEqual(
    world.publishedEvents('Prober Overloaded').map(({ reason }) => reason),
    ['Sockets'],
  );
  assert.ok(of.state.refused < 400, `${of.state.refused} refusals in two minutes`);
});

test('once the machine carries more, the budget rises in steps and the prober catches up', async () => {
  const { world, run, machine: of, lowered } = await onMachine(200);
  of.state.carries = 20;
  await world.clock.advance(60_000);
  of.state.carries = Number.POSITIVE_INFINITY;
  of.state.refused = 0;
  await world.clock.advance(120_000);
  assert.deepEqual([run.view()?.beat.overload, of.state.refused], [undefined, 0]);
  assert.equal(world.publishedEvents('Prober Caught Up').length, 1);
  assert.ok((lowered() ?? 700) >= 30, `${lowered()} descriptors`);
});

test('a machine that refuses everything for half a minute is not seen in any result', async () => {
  const { world, run, machine: of, lowered } = await onMachine(50);
  of.state.carries = 0;
  await world.clock.advance(30_000);
  assert.equal(lowered(), socketsMin);
  of.state.carries = Number.POSITIVE_INFINITY;
  await world.clock.advance(30_000);
  assert.equal(of.made.size, 50);
  assert.deepEqual([...new Set(resultsOf(world))], ['success']);
  assert.equal(run.view()?.beat.late, 0);
});

test('a machine that refuses everything for long makes the results unknown, with its own reason, and tries less', async () => {
  const { world, machine: of } = await onMachine(5);
  of.state.carries = 0;
  await world.clock.advance(120_000);
  assert.deepEqual([...new Set(resultsOf(world))], ['success', 'unknown']);
  assert.equal((await world.probe('target-1', 'main#readiness')).unknown?.reason, 'ProberError');
  of.state.refused = 0;
  await world.clock.advance(60_000);
  assert.equal(of.state.refused, 5 * 6, 'once in each period');
  of.state.carries = Number.POSITIVE_INFINITY;
  await world.clock.advance(15_000);
  assert.equal(resultsOf(world).slice(-5).join(), Array(5).fill('success').join());
});

test('a lack that fewer sockets do not mend, such as ports for one peer, leaves the budget as it is', async () => {
  const { world, machine: of, lowered } = await onMachine(50);
  Object.assign(of.state, { code: 'EADDRNOTAVAIL', carries: 0 });
  await world.clock.advance(5_000);
  of.state.carries = Number.POSITIVE_INFINITY;
  await world.clock.advance(30_000);
  assert.ok(of.state.refused > 0);
  assert.deepEqual([lowered(), of.made.size, [...new Set(resultsOf(world))]], [undefined, 50, ['success']]);
});

test('a canary that is refused lowers the budget; failures count once it is dialed, and the prober is not doubted', async () => {
  const { world, lowered, run, dialing } = await withCanary();
  world.answer(() => failing);
  dialing.isRefused = true;
  await world.clock.advance(25_000);
  assert.deepEqual([lowered(), [...new Set(resultsOf(world))]], [socketsMin, ['success']]);
  dialing.isRefused = false;
  await world.clock.advance(60_000);
  assert.deepEqual([...new Set(resultsOf(world))], ['success', 'failure']);
  assert.deepEqual([world.publishedEvents('Prober Degraded'), run.view()?.beat.late], [[], 0]);
});

test('probes that were refused in one turn hold no socket, and count once each', () => {
  const clock = virtualClock();
  const socketBudget = newSocketBudget(clock);
  const places = Array.from({ length: 40 }, () => socketBudget.take('steady', 1));
  for (const place of places.slice(32)) {
    place.refused('EMFILE');
    place.refused('EMFILE');
  }
  assert.equal(socketBudget.lowered(), 28, '32 less a spare of 4');
  for (const place of places) place.leave();
  assert.deepEqual([socketBudget.hasFor('steady', 28), socketBudget.hasFor('steady', 29)], [true, false]);
});
