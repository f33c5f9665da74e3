/** Registration, replacement, deletion and triggers: the changes that each request makes to the state read. Pure. */

import { type Incarnations, incarnationsOf } from '../../core/kubelet/static-lifecycle.ts';
import type { ProbeRecord, TargetRecord } from '../../core/spec/records.ts';
import { type ProbeName, specProbes, type TargetSpec } from '../../core/spec/spec.ts';
import { probeItemsProblems } from '../../core/spec/validate-target.ts';
import { newProbeRecord } from '../../core/status/observed.ts';
import { initialStatus } from '../../core/status/target-status.ts';
import { sameValue } from '../../lib/equality.ts';
import { encodeProbe, encodeStatus, encodeTarget, stopProbe, updateTo } from '../../store/records/items.ts';
import { type TargetAddress, targetKey } from '../../store/records/keys.ts';
import type { Operation } from '../../store/store.ts';
import { failedPrecondition, type Preconditions } from '../http/etag.ts';
import { invalidFields, type Problem, problem } from '../http/problem.ts';
import type { DecodedTarget } from '../schema/decode-manifest.ts';
import { identityConflict, type SentIdentity } from '../schema/sent-identity.ts';
import type { Plan } from './change-target.ts';
import { noSuchTarget, probeRequestWritesAttribute, type StoredTarget } from './stored-target.ts';

export type PlanContext = {
  readonly address: TargetAddress;
  readonly preconditions: Preconditions;
  /** The identity in the body; absent: the body refers to no particular state. */
  readonly identity: SentIdentity;
  readonly nowMs: number;
};

export const terminating = problem(
  409,
  'terminating',
  'The target is terminating; its name is free again when it is gone.',
);

const alreadyExists = problem(409, 'already-exists', 'There is a target of this name; PUT replaces it.');

/** Why the client refers to another target, or to another state, than the stored one. */
export function notAsMeant(context: PlanContext, stored: StoredTarget | undefined): Problem | undefined {
  const { preconditions, identity } = context;
  return (
    failedPrecondition(preconditions, stored?.target.resourceVersion) ?? identityConflict(identity, stored?.target)
  );
}

/** PUT: registers, replaces, or finds no difference. `uid` is used for a new target. */
export function planPut(context: PlanContext, wanted: DecodedTarget, uid: string) {
  return (stored: StoredTarget | undefined): Plan => {
    const failed = notAsMeant(context, stored);
    if (failed) return failed;
    return stored ? replace(context, stored, wanted) : register(context, wanted, uid);
  };
}

/** POST: registers under a name that is free. `uid` is used for the new target. */
export function planCreate(context: PlanContext, wanted: DecodedTarget, uid: string) {
  return (stored: StoredTarget | undefined): Plan =>
    stored ? alreadyExists : (notAsMeant(context, stored) ?? register(context, wanted, uid));
}

function register({ address, nowMs }: PlanContext, wanted: DecodedTarget, uid: string): Plan {
  const target: TargetRecord = {
    ...wanted,
    uid,
    generation: 1,
    resourceVersion: 1,
    creationTimestampMs: nowMs,
    probeRequests: {},
    ...incarnated(wanted.spec, {}, nowMs),
  };
  const refused = tooManyProbes([], target.spec);
  if (refused) return refused;
  const status = initialStatus(target, nowMs);
  const probes = newProbes(target, []);
  const operations: readonly Operation[] = [
    encodeTarget(address, target),
    encodeStatus(address, status),
    ...Object.values(probes).map((probe) => encodeProbe(address, probe)),
  ].map((item) => ({ kind: 'put', item, if: [{ kind: 'notExists' }] }));
  return {
    kind: 'write',
    operations,
    stored: {
      target,
      status,
      probes,
      probeItems: Object.keys(probes),
      hasReportItem: false,
      probeRequestWrites: undefined,
    },
    created: true,
  };
}

/** For registration and change: the client's input is the whole of spec, labels and annotations. */
export function replace({ address, nowMs }: PlanContext, stored: StoredTarget, wanted: DecodedTarget): Plan {
  const { target } = stored;
  if (target.deletionTimestampMs !== undefined) return terminating;
  const sameSpec = sameValue(target.spec, wanted.spec);
  const generation = target.generation + (sameSpec ? 0 : 1);
  const next: TargetRecord = {
    ...target,
    ...wanted,
    generation,
    resourceVersion: target.resourceVersion + 1,
    ...incarnated(wanted.spec, target.incarnations ?? {}, nowMs, generation),
  };
  const isSame = sameSpec && sameValue(target.labels, next.labels) && sameValue(target.annotations, next.annotations);
  if (isSame) return { kind: 'unchanged', stored };
  const refused = tooManyProbes(stored.probeItems, next.spec);
  if (refused) return refused;
  const added = newProbes(next, stored.probeItems);
  return {
    kind: 'write',
    operations: [
      targetUpdate(address, target, next),
      ...Object.values(added).map(
        (probe): Operation => ({ kind: 'put', item: encodeProbe(address, probe), if: [{ kind: 'notExists' }] }),
      ),
    ],
    stored: {
      ...stored,
      target: next,
      probes: { ...stored.probes, ...added },
      probeItems: [...stored.probeItems, ...Object.keys(added)],
    },
    created: false,
  };
}

/** DELETE: begins termination. A repetition may bring its end forward but not postpone it. */
export function planDelete(
  address: TargetAddress,
  preconditions: Preconditions,
  gracePeriodSeconds: number | undefined,
  nowMs: number,
) {
  return (stored: StoredTarget | undefined): Plan => {
    if (!stored) return noSuchTarget;
    const { target } = stored;
    const failed = failedPrecondition(preconditions, target.resourceVersion);
    if (failed) return failed;
    const graceSeconds = gracePeriodSeconds ?? target.spec.terminationGracePeriodSeconds;
    const endMs = nowMs + graceSeconds * 1000;
    if (
      target.deletionTimestampMs !== undefined &&
      (gracePeriodSeconds === undefined || target.deletionTimestampMs <= endMs)
    )
      return { kind: 'unchanged', stored };
    const next: TargetRecord = {
      ...target,
      resourceVersion: target.resourceVersion + 1,
      deletionTimestampMs: endMs,
      deletionGracePeriodSeconds: graceSeconds,
    };
    return {
      kind: 'write',
      operations: [targetUpdate(address, target, next), ...stops(address, stored)],
      stored: { ...stored, target: next },
      created: false,
    };
  };
}

/** Termination stops liveness and startup. An item that cannot be read has no verdicts that could follow. */
const stops = (address: TargetAddress, { target, probes }: StoredTarget): readonly Operation[] =>
  target.deletionTimestampMs === undefined
    ? Object.values(probes).flatMap((probe) => (probe.probeType === 'readiness' ? [] : stopProbe(address, probe)))
    : [];

/** POST …/probe: one more trigger for each of these probes. */
export function planProbeRequest(
  address: TargetAddress,
  select: (stored: StoredTarget) => readonly ProbeName[] | Problem,
) {
  return (stored: StoredTarget | undefined): Plan => {
    if (!stored) return noSuchTarget;
    const selected = select(stored);
    if ('kind' in selected) return selected;
    if (selected.length === 0) return { kind: 'unchanged', stored };
    const { target, probeRequestWrites } = stored;
    const requests = Object.fromEntries(selected.map((name) => [name, (target.probeRequests[name] ?? 0) + 1]));
    const probeRequests = { ...target.probeRequests, ...requests };
    const attribute = probeRequestWritesAttribute;
    const operation: Operation = {
      kind: 'update',
      key: targetKey(address),
      set: { probeRequests },
      add: { [attribute]: 1 },
      if: [
        { kind: 'equals', attribute: 'uid', value: target.uid },
        probeRequestWrites === undefined
          ? { kind: 'absent', attribute }
          : { kind: 'equals', attribute, value: probeRequestWrites },
      ],
    };
    const next: StoredTarget = { ...stored, target: { ...target, probeRequests } };
    return { kind: 'write', operations: [operation], stored: next, created: false };
  };
}

/** A `reported` target keeps its incarnations: should it become `static` again, no containerID is reused. */
const incarnated = (
  spec: TargetSpec,
  before: Incarnations,
  nowMs: number,
  generation?: number,
): Pick<TargetRecord, 'incarnations'> =>
  spec.lifecycle === 'static' ? { incarnations: incarnationsOf(spec, before, nowMs, generation) } : {};

/** By compare-and-set. `probeRequests` is left out, because a trigger does not change the resourceVersion. */
export function targetUpdate(address: TargetAddress, before: TargetRecord, after: TargetRecord): Operation {
  const { kind, key, set, remove } = updateTo(encodeTarget(address, after));
  const { probeRequests: _, ...rest } = set ?? {};
  return {
    kind,
    key,
    set: rest,
    ...(remove && remove.length > 0 && { remove }),
    if: [
      { kind: 'equals', attribute: 'uid', value: before.uid },
      { kind: 'equals', attribute: 'resourceVersion', value: before.resourceVersion },
    ],
  };
}

/** The items of probes that have none yet. */
function newProbes(target: TargetRecord, existing: readonly ProbeName[]): { readonly [name: ProbeName]: ProbeRecord } {
  const added = specProbes(target.spec).filter(({ name }) => !existing.includes(name));
  return Object.fromEntries(added.map((probe) => [probe.name, newProbeRecord(target.uid, probe)]));
}

function tooManyProbes(existing: readonly ProbeName[], spec: TargetSpec): Problem | undefined {
  const problems = probeItemsProblems(existing, spec);
  return problems.length > 0 ? invalidFields(problems) : undefined;
}
