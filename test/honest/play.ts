/** Plays steps through the API of a shard under a virtual clock, and checks all that is shown after each one. */
import type { Attempt } from '../../shared/core/spec/types.ts';
import { type ShardRun, type ShardWorld, shardWorld } from '../support/shard-world.ts';
import { type Life, newLife } from './life.ts';
import { lookOf } from './look.ts';
import {
  type ContainerName,
  containerNames,
  type Finding,
  type ProbeType,
  probeTypes,
  type Shape,
  type Step,
  sidecar,
  type TargetName,
  targetNames,
} from './steps.ts';
import type { Holder } from './truth.ts';

/** A run that has less left of its slot is followed by the next one before the step. */
const slotRestMs = 60_000;

const portsOfTarget = 100;
const portsOfContainer = 10;

const portOf = (target: TargetName, container: ContainerName, type: ProbeType): number =>
  portsOfTarget * (1 + targetNames.indexOf(target)) +
  portsOfContainer * containerNames.indexOf(container) +
  probeTypes.indexOf(type);

const places = new Map(
  targetNames.flatMap((target) =>
    containerNames.flatMap((container) =>
      probeTypes.map((type) => [portOf(target, container, type), { target, container, type }] as const),
    ),
  ),
);

const attemptOf: { readonly [finding in Finding]: 'success' | 'failure' | Attempt } = {
  success: 'success',
  failure: 'failure',
  denied: { ...prevented('POLICY_DENIED'), error: 'the address is denied' },
  error: { ...prevented('PROBER'), error: 'the secret is not there' },
};

function prevented(failureClass: 'POLICY_DENIED' | 'PROBER') {
  return { outcome: 'unknown', output: '', failureClass, timings: { totalMs: 0 } } as const;
}

/** @throws an Error that names what was shown although it was not seen. */
export async function play(steps: readonly Step[], onStep: () => void = () => undefined): Promise<void> {
  const game = await opened();
  for (const step of steps) {
    onStep();
    await game.take(step);
    await game.look();
  }
  await game.close();
}

async function opened() {
  const world = shardWorld();
  const findings = new Map<number, Finding>();
  const lives = new Map<TargetName, Life>();
  const crashesMs: number[] = [];
  let holder: Holder = { number: 0, sinceMs: world.clock.nowMs() };
  // Commits are paced by fractions of a millisecond, which no shown time has.
  const nowMs = () => Math.floor(world.clock.nowMs());
  const setting = { nowMs, holder: () => holder, crashesMs };
  world.answer((request) => {
    const port = 'port' in request ? Number(request.port) : 0;
    const finding = findings.get(port) ?? 'success';
    const place = places.get(port);
    if (place) lives.get(place.target)?.found(place.container, place.type, finding);
    return attemptOf[finding];
  });
  let run = await world.run();
  const look = lookOf(world, lives);
  const changeRun = async (end: () => unknown) => {
    await end();
    holder = { number: holder.number + 1, sinceMs: world.clock.nowMs() };
    run = await world.run();
    holder = { ...holder, sinceMs: world.clock.nowMs() };
  };
  /** A run ends with its slot, and the next one continues. */
  const keepRunning = async () => {
    const { slotEndMs } = world.message();
    if (run.view() !== undefined && world.clock.nowMs() < slotEndMs - slotRestMs) return;
    await changeRun(async () => {
      await world.clock.advance(slotEndMs - world.clock.nowMs());
      await run.stop();
    });
  };

  return {
    async take(step: Step): Promise<void> {
      await keepRunning();
      switch (step.kind) {
        case 'find':
          findings.set(portOf(step.target, step.container, step.type), step.finding);
          return;
        case 'wait':
          return world.clock.advance(step.ms);
        case 'handOver':
          return changeRun(() => run.stop());
        case 'crash':
          return changeRun(() => crash(run, crashesMs, world.clock.nowMs()));
        case 'put': {
          const life = lives.get(step.target);
          if (life?.isThere() && life.termination()) return;
          const { uid, generation } = await put(world, step.target, step.shape);
          if (life?.isThere()) life.put(step.shape, generation);
          else lives.set(step.target, newLife(setting, { name: step.target, uid, shape: step.shape, generation }));
          return;
        }
        default: {
          const life = lives.get(step.target);
          if (life?.isThere()) await change(world, life, step);
        }
      }
    },
    look,
    close: () => run.stop(),
  };
}

/** Pending writes of the run are lost: its last findings may not be durable. */
function crash(run: ShardRun, crashesMs: number[], nowMs: number): void {
  crashesMs.push(nowMs);
  run.crash();
}

type Registered = { readonly uid: string; readonly generation: number };

async function put(world: ShardWorld, target: TargetName, shape: Shape): Promise<Registered> {
  const containers = Object.entries(shape).map(([name, specs]) => {
    const probes = Object.entries(specs).map(([type, probe]) => {
      const port = portOf(target, name as ContainerName, type as ProbeType);
      return [`${type}Probe`, { tcpSocket: { port }, ...probe }];
    });
    return { name, ...(name === sidecar && { restartPolicy: 'Always' as const }), ...Object.fromEntries(probes) };
  });
  const response = await world.put(target, {
    lifecycle: target.startsWith('static') ? 'static' : 'reported',
    containers: containers.filter(({ name }) => name !== sidecar),
    initContainers: containers.filter(({ name }) => name === sidecar),
  });
  return ((await response.json()) as { readonly metadata: Registered }).metadata;
}

type Change = Extract<Step, { readonly kind: 'delete' | 'terminate' | 'restart' | 'stop' | 'finalize' | 'trigger' }>;

async function change(world: ShardWorld, life: Life, step: Change): Promise<void> {
  const { name, lifecycle } = life;
  const path = `/v1/namespaces/default/targets/${name}`;
  switch (step.kind) {
    case 'delete':
      life.end();
      await world.remove(name, 0);
      return world.until('gone', async () => (await world.itemsOf(name)).length === 0);
    case 'terminate':
      if (life.termination()) return;
      life.terminate(step.graceSeconds, (await world.shown(name)) as never);
      await world.remove(name, step.graceSeconds);
      return;
    case 'finalize': {
      const report = life.finalized(step.phase);
      if (report) await world.report(name, report);
      return;
    }
    case 'trigger':
      await world.request('POST', `${path}/probe`);
      return;
    case 'restart':
    case 'stop': {
      if (!life.has(step.container)) return;
      const report = lifecycle === 'reported' && life.reported(step.container, step.kind === 'stop' ? 'stops' : 'runs');
      if (report) await world.report(name, report);
      if (lifecycle === 'reported' || step.kind === 'stop' || life.termination()) return;
      life.restarted(step.container);
      await world.request('POST', `${path}/restarted`, { container: step.container });
    }
  }
}
