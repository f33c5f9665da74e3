/**
 * The product's step from one status to the next, by itself: given everything that kubelet's callers give, also what no
 * report can say, it has to come to exactly what was recorded.
 */
import { disruptionTarget } from '../../shared/core/kubelet/conditions.ts';
import { nextStatus } from '../../shared/core/kubelet/status-update.ts';
import type { Condition, PodStatus } from '../../shared/core/spec/types.ts';
import { compare } from './compare.ts';
import { spec, status, type VectorPod, withoutEmpty } from './status-decode.ts';
import type { Op, Recorded } from './status-vector.ts';

const blank = status({});

/** Undefined: every step is the recorded one. */
export function stepsDifference(pods: readonly VectorPod[], ops: readonly Op[]): string | undefined {
  const step = stepper(pods);
  for (const [index, op] of ops.entries()) {
    const { taken, recorded } = step(op);
    const different = compare(`op ${index} (nextStatus)`, withoutEmpty({ taken }), withoutEmpty({ taken: recorded }));
    if (different) return different;
  }
  return undefined;
}

/** `taken`: what the step of an op comes to; undefined: it is refused, or there is none. */
function stepper(pods: readonly VectorPod[]) {
  const cached = new Map<string, PodStatus>();
  /** What kubelet's API server holds, and kubelet's copies of that. */
  const held = new Map<string, PodStatus>();
  const copies = new Map<string, PodStatus>();
  const deleted = new Set(pods.filter(({ deletionTimestampSet }) => deletionTimestampSet).map(({ uid }) => uid));
  let nowMs = 0;

  function taken(pod: VectorPod, op: Op): PodStatus | undefined {
    const isSet = op.op === 'setPodStatus';
    const { cached: after, updateQueued } = op.expect;
    if (!isSet && !updateQueued) return undefined;
    const known = cached.get(pod.uid);
    const step = nextStatus({
      spec: spec(pod),
      old: known ?? copies.get(pod.uid) ?? blank,
      next: isSet ? status(op.status ?? {}) : status(after?.status ?? {}),
      forced: !known || op.op === 'terminatePod' || (isSet && deleted.has(pod.uid)),
      nowMs,
    });
    return step.kind === 'changed' ? step.status : undefined;
  }

  function synced(api: NonNullable<Recorded['api']>): void {
    for (const [uid, given] of Object.entries(api)) {
      if (!given) held.delete(uid);
      else held.set(uid, status(given));
      const known = cached.get(uid);
      if (known && given) cached.set(uid, asSent(known, status(given)));
    }
  }

  /** What kubelet's agent learns apart from the status manager. */
  function observed(pod: VectorPod, { op }: Op): void {
    const copy = held.get(pod.uid);
    if (op === 'deletePod') deleted.add(pod.uid);
    if (op === 'observePodStatus' && copy) copies.set(pod.uid, copy);
  }

  return (op: Op): { readonly taken: PodStatus | undefined; readonly recorded: PodStatus | undefined } => {
    const { expect } = op;
    const pod = pods.find(({ uid }) => uid === op.podUID);
    nowMs += (op.seconds ?? 0) * 1000;
    if (pod) observed(pod, op);
    const came = pod && taken(pod, op);
    const after = expect.cached ? status(expect.cached.status) : undefined;
    if (pod && after) cached.set(pod.uid, after);
    for (const uid of [...cached.keys()]) if (!expect.cachedUIDs?.includes(uid)) cached.delete(uid);
    synced(expect.api ?? {});
    return { taken: came, recorded: expect.updateQueued ? after : undefined };
  };
}

/** DisruptionTarget waits for the last container: its time is that of the sending, also in the cache. */
function asSent(known: PodStatus, sent: PodStatus): PodStatus {
  const timed = known.conditions.map((condition) => {
    const same = sent.conditions.find(
      ({ type, status: value }) => type === condition.type && value === condition.status,
    );
    return condition.type === disruptionTarget && same ? { ...condition, ...timeOf(same) } : condition;
  });
  return { ...known, conditions: timed };
}

const timeOf = ({ lastTransitionTimeMs }: Condition) => lastTransitionTimeMs !== undefined && { lastTransitionTimeMs };
