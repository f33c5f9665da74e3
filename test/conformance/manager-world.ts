/**
 * The product as the manager vectors see it: targets are registered, reported and deleted through the API, a holder
 * reads what has changed and reconciles its workers, and its loop runs them over a store in memory. Only the 1.5 s
 * between two looks at the change counters are left out: the holder looks after each call, so that the times of a
 * vector hold.
 */

import { rejects } from 'node:assert/strict';
import type { Phase } from '../../shared/core/spec/types.ts';
import { ShardLoader } from '../../shared/holder/load.ts';
import { tendTargets } from '../../shared/holder/probing/timekeeper.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { readTarget } from '../../shared/table/targets.ts';
import { bareHolder } from '../support/bare-holder.ts';
import { shardWorld } from '../support/shard-world.ts';
import { containerIDOf, type Observed, observedOf, type RecordedPod, specOfPod } from './manager-vector.ts';

/** Below the time after which a run without a beat fences itself. */
const beatMs = 5_000;

/** A call, what status-sync makes of the call, and what the holder makes of that. */
const looksPerCall = 3;

const graceSeconds = 3_600;

const stepMs = 10;
const stepsMax = 100;

export function managerWorld() {
  const world = shardWorld();
  const { run, loop, holder } = bareHolder(world);
  const loader = new ShardLoader(holder);
  const registered = new Map<string, RecordedPod>();
  const startedAt = new Date(world.clock.nowMs()).toISOString();
  loop.start({
    cycle: (worker, place) => worker.cycle(holder, place),
    tend: (due) => tendTargets(holder, due),
    jumped: () => undefined,
  });

  const settle = async () => {
    for (let look = 0; look < looksPerCall; look += 1) {
      if (!(await world.clock.runUntil(loader.catchUp()))) throw new Error('the run is fenced');
      await quiet();
    }
  };
  /** Until what is due has been done: commits are spaced, so it takes some moments. */
  const quiet = async () => {
    run.confirm(world.clock.monotonicMs());
    await world.clock.advance(0);
    for (let step = 0; !loop.isQuiet(); step += 1) {
      if (step === stepsMax) throw new Error('the loop does not come to rest');
      await world.clock.advance(stepMs);
    }
  };
  const report = (pod: RecordedPod, phase: Phase) => {
    const statusOf = ({ name }: { readonly name: string }) => ({
      name,
      containerID: containerIDOf(pod.uid, name),
      state: { running: { startedAt } },
    });
    const { containers = [], initContainers = [] } = pod;
    const containerStatuses = containers.map(statusOf);
    return world.report(pod.uid, {
      phase,
      containerStatuses,
      initContainerStatuses: initContainers.map(statusOf),
    });
  };
  const isTerminating = (uid: string) =>
    [...holder.targets.values()].some(({ target }) => target.name === uid && target.deletionTimestampMs !== undefined);
  const remove = async (uid: string) => {
    if (registered.delete(uid)) await world.remove(uid, 0);
  };

  return {
    nowMs: world.clock.nowMs,
    async addPod(pod: RecordedPod) {
      const put = world.put(pod.uid, { lifecycle: 'reported', ...specOfPod(pod) });
      if (isTerminating(pod.uid)) return rejects(put, /: 409 .*terminating/);
      await put;
      registered.set(pod.uid, pod);
      await report(pod, 'Running');
      await settle();
    },
    async removePod(uid: string) {
      await remove(uid);
      await settle();
    },
    async cleanupPods(desired: ReadonlySet<string>) {
      for (const uid of [...registered.keys()]) if (!desired.has(uid)) await remove(uid);
      await settle();
    },
    async stopLivenessAndStartup(uid: string) {
      if (registered.has(uid)) await world.remove(uid, graceSeconds);
      await settle();
    },
    async setPhase(uid: string, phase: Phase) {
      const pod = registered.get(uid);
      if (pod) await report(pod, phase);
      await settle();
    },
    async advance(seconds: number) {
      const untilMs = world.clock.monotonicMs() + seconds * 1000;
      for (let nowMs = world.clock.monotonicMs(); nowMs < untilMs; nowMs = world.clock.monotonicMs()) {
        run.confirm(nowMs);
        await world.clock.advance(Math.min(beatMs, untilMs - nowMs));
      }
      await quiet();
    },
    /** The workers that the holder runs, and the results that the store has of them. */
    async observed(): Promise<Observed> {
      const workers = [...holder.targets.values()].flatMap(({ target, workers: held }) =>
        [...held.values()].map(({ spec, probeType }) => ({
          uid: target.name,
          container: spec.container.spec.name,
          probeType,
        })),
      );
      const results = [];
      for (const uid of registered.keys()) {
        const read = await readTarget(world.store, targetAddress('default', uid));
        for (const { probeType, containerID, result } of Object.values(read?.probes ?? {}))
          if (result) results.push({ probeType, containerID, result });
      }
      return observedOf(workers, results);
    },
  };
}
