/** One restart of a process on many settled targets. */
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { probesBy, type RestartWorld, startLife, startRestartWorld } from './world.ts';

const measuredMsMax = 90_000;
const pollMs = 100;
/** What a process does after every target has been probed once: errors come late, too. */
const afterMs = 2_000;

export type Restart = {
  /** From the start of the process until `/healthz` says that it holds its shard. */
  readonly healthyMs: number;
  /** From then on until each target was probed; infinite: that did not come. */
  readonly probedMs: number;
  /** Probes that ended in a prober error. */
  readonly errors: number;
};

export async function restart(world: RestartWorld): Promise<Restart> {
  await world.requested('reset');
  const life = await startLife(world);
  const healthyAtMs = Date.now();
  const endMs = healthyAtMs + measuredMsMax;
  let seen = await world.requested();
  for (; seen.paths < world.targets && Date.now() < endMs; seen = await world.requested())
    await sleep(systemClock, pollMs);
  await sleep(systemClock, afterMs);
  const errors = await probesBy('unknown', life);
  await life.stop();
  const probedMs = seen.paths < world.targets ? Number.POSITIVE_INFINITY : seen.lastAtMs - healthyAtMs;
  return { healthyMs: life.healthyMs, probedMs, errors };
}

/** At 10 s a probe. */
export async function measureRestart(targets: number): Promise<Restart> {
  const world = await startRestartWorld(targets, 10);
  try {
    return await restart(world);
  } finally {
    world.close();
  }
}
