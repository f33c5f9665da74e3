/**
 * The product as the status-manager vectors see it. A pod is a target: registered, reported on and deleted through the
 * API. Verdicts of its probes are committed through the commit queue of a holder. status-sync computes STATUS and
 * writes it, of each change twice at once, so that the one meets the other's write.
 */
import { deepStrictEqual } from 'node:assert/strict';
import type { EventDetail } from '../../shared/bus/events.ts';
import { type ProbeName, probeName } from '../../shared/core/spec/spec.ts';
import type { Condition, ContainerState, ContainerStatus, PodStatus, ProbeType } from '../../shared/core/spec/types.ts';
import { newSocketBudget } from '../../shared/holder/probing/sockets.ts';
import type { HeldTarget } from '../../shared/holder/probing/worker.ts';
import { syncTarget } from '../../shared/status-sync/sync.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import type { Store } from '../../shared/store/store.ts';
import { readTarget } from '../../shared/table/targets.ts';
import { bareHolder } from '../support/bare-holder.ts';
import { tcpProbe } from '../support/pods.ts';
import { shardWorld } from '../support/shard-world.ts';
import { spec, type VectorContainer, type VectorPod } from './status-decode.ts';
import type { Statuses } from './status-vector.ts';

/** Longer than any vector lasts. */
const graceSeconds = 86_400;

/** Below the time after which a run without a beat fences itself. */
const beatMs = 5_000;

const verdictTypes = ['startup', 'readiness'] as const;

export type Verdict = { readonly container: string; readonly probeType: ProbeType; readonly isSuccess: boolean };

export function statusWorld(pods: readonly VectorPod[]) {
  const world = shardWorld({ wrapStore: writtenOnce });
  const { holder, hold } = bareHolder(world);
  const startMs = world.clock.nowMs();
  const held = new Map<string, HeldTarget>();
  let atSeconds = 0;

  const settle = async () => {
    await world.clock.advance(0);
    world.sync(true);
  };
  /** Two at once: the one that loses the write reads again and finds nothing left to do. */
  const syncTwice = async (uid: string) => {
    const name = { namespace: 'default', name: podNameOf(uid) };
    await world.clock.runUntil(Promise.all([syncTarget(world.ports(), name), syncTarget(world.ports(), name)]));
    await settle();
  };
  const register = async (pod: VectorPod) => {
    await world.put(podNameOf(pod.uid), targetSpecOf(pod));
    held.set(pod.uid, await hold(podNameOf(pod.uid)));
    if (pod.deletionTimestampSet) await world.remove(podNameOf(pod.uid), graceSeconds);
  };
  const commit = async (of: HeldTarget, { probe, containerID, isSuccess }: Committed) => {
    const found = of.workers.get(probe);
    if (!found) throw new Error(`no worker ${probe}`);
    const step = {
      worker: { ...found.verdict.state, containerID },
      actions: [{ kind: 'set', containerID, result: isSuccess ? 'success' : 'failure' }],
    } as const;
    const place = newSocketBudget(world.clock).take('new', 1);
    await world.clock.runUntil(found.apply(holder, place, step));
  };
  const purge = async (uid: string) => {
    if (!held.delete(uid)) return;
    await world.remove(podNameOf(uid), 0);
    await syncTwice(uid);
  };

  return {
    /**
     * What the containers are, as the process that runs them reports it, and what their probes say; all of it at once.
     */
    async report(pod: VectorPod, status: PodStatus, verdicts: readonly Verdict[]): Promise<void> {
      world.sync(false);
      if (!held.has(pod.uid)) await register(pod);
      const name = podNameOf(pod.uid);
      await world.report(name, reportOf(pod, status, startMs));
      const of = held.get(pod.uid);
      for (const { container, probeType, isSuccess } of verdicts) {
        const containerID = containerIDIn(status, container);
        if (of && containerID) await commit(of, { probe: probeName(container, probeType), containerID, isSuccess });
      }
      await syncTwice(pod.uid);
    },
    /** A verdict alone. status-sync learns of it by the event. */
    async verdict(
      { uid }: VectorPod,
      containerID: string,
      { container, probeType, isSuccess }: Verdict,
    ): Promise<void> {
      const of = held.get(uid);
      if (of) await commit(of, { probe: probeName(container, probeType), containerID, isSuccess });
      await settle();
    },
    async remove({ uid }: VectorPod): Promise<void> {
      if (held.has(uid)) await world.remove(podNameOf(uid), graceSeconds);
      await settle();
    },
    async keepOnly(uids: ReadonlySet<string>): Promise<void> {
      for (const { uid } of pods) if (!uids.has(uid)) await purge(uid);
    },
    /** Nothing is left to do after the first look but restart requests that are due again, so nothing is written. */
    async syncAll(): Promise<void> {
      for (const uid of held.keys()) await syncTwice(uid);
      const itemsOf = () => Promise.all([...held.keys()].map((uid) => world.itemsOf(podNameOf(uid))));
      const before = await itemsOf();
      for (const uid of held.keys()) await syncTwice(uid);
      deepStrictEqual(await itemsOf(), before);
    },
    async advance(seconds: number): Promise<void> {
      atSeconds += seconds;
      const untilMs = startMs + atSeconds * 1000;
      for (let nowMs = startMs; nowMs < untilMs; nowMs = world.clock.nowMs()) {
        holder.run.confirm(world.clock.monotonicMs());
        await world.clock.advance(Math.min(beatMs, untilMs - world.clock.nowMs()));
      }
    },
    /** As STATUS has them, in the vector's time. */
    async statuses(): Promise<Statuses> {
      const entries = pods.map(async ({ uid }) => {
        const read = await readTarget(world.store, targetAddress('default', podNameOf(uid)));
        return [uid, read ? (sinceStart(read.status.status, startMs) as PodStatus) : null] as const;
      });
      return Object.fromEntries(await Promise.all(entries));
    },
    /** How many changes of a pod subscribers have learned of; delivered twice, an event is one. */
    published({ uid }: VectorPod): number {
      const changes = world.published.filter(({ 'detail-type': type }) => type === 'Target Status Changed');
      const details = changes.map(({ detail }) => detail as EventDetail<'Target Status Changed'>);
      const ofPod = details.filter(({ target }) => target.name === podNameOf(uid));
      return new Set(ofPod.map(({ resourceVersion, target }) => `${target.uid} ${resourceVersion}`)).size;
    },
  };
}

/** A status is written on condition of the version that it follows: no version of it is written a second time. */
function writtenOnce(store: Store): Store {
  const versions = new Set<string>();
  return {
    ...store,
    async write(operations, options) {
      const outcome = await store.write(operations, options);
      for (const operation of operations) {
        if (outcome.kind !== 'written' || operation.kind !== 'update' || operation.set?.kind !== 'STATUS') continue;
        const version = `${operation.set.uid} ${operation.set.version}`;
        if (versions.has(version)) throw new Error(`STATUS ${version} is written again`);
        versions.add(version);
      }
      return outcome;
    },
  };
}

const podNameOf = (uid: string): string => `pod-${uid}`;

type Committed = { readonly probe: ProbeName; readonly containerID: string; readonly isSuccess: boolean };

/** Each container that may have probes has the two that decide its status. */
function targetSpecOf(pod: VectorPod) {
  const { restartPolicy, readinessGates, terminationGracePeriodSeconds } = spec(pod);
  return {
    lifecycle: 'reported',
    restartPolicy,
    readinessGates,
    terminationGracePeriodSeconds,
    initContainers: (pod.initContainers ?? []).map((each) => containerOf(each, each.restartPolicy === 'Always')),
    containers: (pod.containers ?? []).map((each) => containerOf(each, true)),
  } as const;
}

function containerOf({ restartPolicyRules, ...container }: VectorContainer, isProbed: boolean) {
  const rules = restartPolicyRules?.map(({ action, ...exitCodes }) => ({ action, exitCodes }));
  const probes = Object.fromEntries(verdictTypes.map((probeType) => [`${probeType}Probe`, tcpProbe]));
  return { ...container, ...(rules && { restartPolicyRules: rules as never }), ...(isProbed && probes) };
}

const containerIDIn = ({ containerStatuses, initContainerStatuses }: PodStatus, container: string) =>
  [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === container)?.containerID;

/** The body of PUT …/status. A report names the containers of the spec alone. */
function reportOf(pod: VectorPod, status: PodStatus, startMs: number) {
  const of = (containers: readonly VectorContainer[] = [], statuses: readonly ContainerStatus[]) =>
    statuses.filter(({ name }) => containers.some((container) => container.name === name)).map(reported);
  const reported = ({ name, containerID, state, lastState, restartCount, ready, started }: ContainerStatus) => ({
    name,
    restartCount,
    // Of these the probes decide, whatever a report says.
    ready: !ready,
    started: !started,
    ...(containerID && { containerID }),
    ...(state && { state: stateOf(state, startMs) }),
    ...(lastState && { lastState: stateOf(lastState, startMs) }),
  });
  return {
    phase: status.phase,
    conditions: status.conditions.map((condition) => conditionOf(condition, startMs)),
    containerStatuses: of(pod.containers, status.containerStatuses),
    initContainerStatuses: of(pod.initContainers, status.initContainerStatuses),
  };
}

const instant = (ms: number): string => new Date(ms).toISOString();

function stateOf({ kind, ...state }: ContainerState, startMs: number) {
  const { startedAtMs, finishedAtMs, ...texts } = state as { startedAtMs?: number; finishedAtMs?: number };
  return {
    [kind]: {
      ...texts,
      ...(startedAtMs !== undefined && { startedAt: instant(startMs + startedAtMs) }),
      ...(finishedAtMs !== undefined && { finishedAt: instant(startMs + finishedAtMs) }),
    },
  };
}

const conditionOf = ({ lastTransitionTimeMs, observedGeneration: _, ...condition }: Condition, startMs: number) => ({
  ...condition,
  ...(lastTransitionTimeMs !== undefined && { lastTransitionTime: instant(startMs + lastTransitionTimeMs) }),
});

/** All instants of a value, counted from the beginning of the vector. */
function sinceStart(value: unknown, startMs: number): unknown {
  if (Array.isArray(value)) return value.map((each) => sinceStart(each, startMs));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, field]) => [
    key,
    key.endsWith('Ms') && typeof field === 'number' ? field - startMs : sinceStart(field, startMs),
  ]);
  return Object.fromEntries(entries);
}
