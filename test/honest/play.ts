/** Plays steps through the API of a shard under a virtual clock, and asks after each one whether all that is shown was seen. */
import type { Attempt } from '../../shared/core/types.ts';
import { type ShardRun, type ShardWorld, shardWorld } from '../support/shard-world.ts';
import { type Asked, faultsIn, liesIn, type Shown, type Truth } from './rules.ts';
import {
  type Finding,
  type Lifecycle,
  lifecycles,
  type ProbeType,
  probeTypes,
  type Specs,
  type Step,
} from './steps.ts';

type Known = {
  specs: Specs;
  isThere: boolean;
  runsSinceMs: number | undefined;
  disturbedMs: number;
  restarts: number;
  /** Containers that were reported so far. */
  containers: number;
};

/** How long what was found may take to be shown: a commit, a sync, and a look at the change counters. */
const settlesMs = 6_000;
const lookMs = 500;

const portOf = (lifecycle: Lifecycle, type: ProbeType): number =>
  1_000 * (1 + lifecycles.indexOf(lifecycle)) + probeTypes.indexOf(type);

const attemptOf: { readonly [finding in Finding]: 'success' | 'failure' | Attempt } = {
  success: 'success',
  failure: 'failure',
  denied: { ...prevented('POLICY_DENIED'), error: 'the address is denied' },
  error: { ...prevented('PROBER'), error: 'the secret is not there' },
};

function prevented(failureClass: 'POLICY_DENIED' | 'PROBER') {
  return { outcome: 'unknown', output: '', failureClass, timings: { totalMs: 0 } } as const;
}

/** @throws an Error that says what was shown and not seen. */
export async function play(steps: readonly Step[], onStep: () => void): Promise<void> {
  const game = await opened();
  for (const step of steps) {
    await game.take(step);
    await game.look();
    onStep();
  }
  await game.close();
}

async function opened() {
  const world = shardWorld();
  const findings = new Map<number, Finding>();
  const asked = new Map<number, Asked[]>();
  const known = new Map<Lifecycle, Known>();
  world.answer((request) => {
    const port = 'port' in request ? Number(request.port) : 0;
    const finding = findings.get(port) ?? 'success';
    asked.set(port, [...(asked.get(port) ?? []), { atMs: world.clock.nowMs(), finding }]);
    return attemptOf[finding];
  });
  let run = await world.run();
  const running = async (): Promise<ShardRun> => {
    if (run.view() === undefined || world.clock.nowMs() > world.message().slotEndMs - 60_000)
      run = await next(world, run);
    return run;
  };

  const truthOf = (lifecycle: Lifecycle, one: Known): Truth => ({
    lifecycle,
    ...one,
    nowMs: world.clock.nowMs(),
    asked: (type) => asked.get(portOf(lifecycle, type)) ?? [],
  });
  const disturb = () => {
    for (const one of known.values()) one.disturbedMs = world.clock.nowMs();
  };
  const changeRun = async (end: () => unknown) => {
    await end();
    run = await world.run();
    disturb();
  };

  return {
    async take(step: Step): Promise<void> {
      await running();
      switch (step.kind) {
        case 'put':
          return put(world, known, step);
        case 'delete':
          return remove(world, known, step.lifecycle);
        case 'find':
          findings.set(portOf(step.lifecycle, step.type), step.finding);
          return;
        case 'wait':
          await world.clock.advance(step.seconds * 1_000);
          return;
        case 'restart':
          return restart(world, known, step.lifecycle);
        case 'stop':
          return stop(world, known);
        case 'handOver':
          return changeRun(() => run.stop());
        case 'crash':
          return changeRun(() => run.crash());
      }
    },
    /** Nothing may be a lie once the last change was noticed; within a moment, while nothing else happens, all has to be shown. */
    async look(): Promise<void> {
      for (const [lifecycle, one] of known) {
        if (!one.isThere) continue;
        const isNoticed = world.clock.nowMs() - one.disturbedMs > settlesMs;
        const lies = isNoticed ? liesIn(truthOf(lifecycle, one), await shownOf(world, lifecycle)) : [];
        if (lies.length > 0) throw new Error(`${lifecycle}: ${lies.join('; ')}`);
        const faults = await lastingFaults(world, () => truthOf(lifecycle, one));
        if (faults.length > 0) throw new Error(`${lifecycle}: ${faults.join('; ')}`);
      }
    },
    close: () => run.stop(),
  };
}

/** A run ends with its slot: the next one goes on. */
async function next(world: ShardWorld, run: ShardRun): Promise<ShardRun> {
  await world.clock.advance(Math.max(0, world.message().slotEndMs - world.clock.nowMs()));
  await run.stop();
  return world.run();
}

/** What is still wrong after all that was found had time to be shown. */
async function lastingFaults(world: ShardWorld, truth: () => Truth): Promise<readonly string[]> {
  for (let waitedMs = 0; ; waitedMs += lookMs) {
    const { lifecycle } = truth();
    const faults = faultsIn(truth(), await shownOf(world, lifecycle));
    if (faults.length === 0 || waitedMs > settlesMs) return faults;
    await world.clock.advance(lookMs);
  }
}

async function shownOf(world: ShardWorld, lifecycle: Lifecycle): Promise<Shown> {
  const response = await world.request('GET', `/v1/namespaces/default/targets/${lifecycle}`);
  return ((await response.json()) as { readonly status: Shown }).status;
}

type Knowns = Map<Lifecycle, Known>;

async function put(world: ShardWorld, known: Knowns, { lifecycle, specs }: Extract<Step, { kind: 'put' }>) {
  const probes = Object.fromEntries(
    Object.entries(specs).map(([type, probe]) => {
      const port = portOf(lifecycle, type as ProbeType);
      return [`${type}Probe`, { tcpSocket: { port }, ...probe }];
    }),
  );
  const nowMs = world.clock.nowMs();
  const before = known.get(lifecycle);
  await world.put(lifecycle, { lifecycle, containers: [{ name: 'app', ...probes }] });
  if (before?.isThere) {
    known.set(lifecycle, { ...before, specs, disturbedMs: nowMs });
    return;
  }
  const runsSinceMs = lifecycle === 'static' ? nowMs : undefined;
  const containers = before?.containers ?? 0;
  known.set(lifecycle, { specs, isThere: true, runsSinceMs, disturbedMs: nowMs, restarts: 0, containers });
}

async function remove(world: ShardWorld, known: Knowns, lifecycle: Lifecycle): Promise<void> {
  const one = known.get(lifecycle);
  if (!one?.isThere) return;
  await world.remove(lifecycle, 0);
  one.isThere = false;
  await world.until('gone', async () => (await world.itemsOf(lifecycle)).length === 0);
}

async function restart(world: ShardWorld, known: Knowns, lifecycle: Lifecycle): Promise<void> {
  const one = known.get(lifecycle);
  if (!one?.isThere) return;
  one.runsSinceMs = world.clock.nowMs();
  one.disturbedMs = one.runsSinceMs;
  if (lifecycle === 'static') {
    one.restarts += 1;
    await world.restarted(lifecycle);
    return;
  }
  one.containers += 1;
  await report(world, one, { running: { startedAt: new Date(one.runsSinceMs).toISOString() } });
}

async function stop(world: ShardWorld, known: Knowns): Promise<void> {
  const one = known.get('reported');
  if (!one?.isThere || one.runsSinceMs === undefined) return;
  one.runsSinceMs = undefined;
  one.disturbedMs = world.clock.nowMs();
  await report(world, one, { waiting: { reason: 'CrashLoopBackOff' } });
}

async function report(world: ShardWorld, { containers }: Known, state: object): Promise<void> {
  await world.report('reported', { containerStatuses: [{ name: 'app', containerID: `test://${containers}`, state }] });
}
