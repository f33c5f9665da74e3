/** Decisions of the product that are made wrongly, one function each; see removals.ts. */

import type { WorkerSpec } from '../../../shared/core/kubelet/worker.ts';
import type { ProbeRecord, RestartRequest, TargetState } from '../../../shared/core/spec/records.ts';
import type { HeldTarget } from '../../../shared/holder/probing/worker.ts';
import type { ShardMessage } from '../../../shared/queue/queue.ts';
import { type AnyOf, always, inProduct, type Replacement } from './replacement.ts';

type Plans = (state: TargetState, nowMs: number, ...rest: never[]) => unknown;
type IsDue = (request: RestartRequest, nowMs: number) => boolean;
type Incarnation = { readonly restartCount: number };
type Counts = (deps: never, address: never, growth?: unknown) => Promise<void>;
type Drops = (ports: never, message: ShardMessage, ...rest: never[]) => Promise<unknown>;
type Works = (spec: WorkerSpec, ...rest: never[]) => unknown;

/** Less than any back-off. */
const shortBackoffMs = 1_000;

export const decisionRemovals = {
  /** A container whose readiness probe fails is restarted. */
  'readiness taken for liveness': inProduct('planSync', (original: Plans, removed) => (state, nowMs, ...rest) => {
    removed();
    return original({ ...state, probes: readinessAsLiveness(state.probes) }, nowMs, ...rest);
  }),
  /** A deleted target does not get its grace period. */
  'purged at once': inProduct('planSync', (original: Plans, removed) => (state, nowMs, ...rest) => {
    const { target } = state;
    if (target.deletionTimestampMs === undefined) return original(state, nowMs, ...rest);
    removed();
    return original({ ...state, target: { ...target, deletionTimestampMs: 0 } }, nowMs, ...rest);
  }),
  /** A repeated request does not wait for its back-off. */
  'no back-off': inProduct('againAfterMs', always(shortBackoffMs)),
  /** A static container that is reported as restarted stays the one that it was. */
  'restarts not taken in': inProduct('incarnationOf', (original: AnyOf<Incarnation>, removed) => (...args) => {
    const incarnation = original(...args);
    if (incarnation.restartCount > 0) removed();
    return { ...incarnation, restartCount: 0 };
  }),
  /** The recovery of a static container is published as soon as its restart is reported. */
  'recovered without a verdict': inProduct('verdictOf', always('success')),
  /** A restart request is published once, whatever becomes of it. */
  'requests told once': inProduct('isRequestDue', (original: IsDue, removed) => (request, nowMs) => {
    if (request.published > 0) removed();
    return request.published === 0 && original(request, nowMs);
  }),
  /** A static container that has failed is not probed any more, as if a runtime were about to replace it. */
  'static workers on hold': inProduct('reduce', (original: Works, removed) => ({ probesOn, ...spec }, ...rest) => {
    if (probesOn) removed();
    return original(spec, ...rest);
  }),
  'initial delay ignored': inProduct('decideGate', (original: Works, removed) => (spec, ...rest) => {
    if (spec.initialDelaySeconds > 0) removed();
    return original({ ...spec, initialDelaySeconds: 0 }, ...rest);
  }),
  'stale ten times later': inProduct('staleAfterMs', (original: AnyOf<number>, removed) => (...args) => {
    removed();
    return 10 * original(...args);
  }),
  /** An event without a holder is not followed by one of the recovery. */
  'recovery of a shard not published': inProduct('isToPublish', always(false)),
  /** A run leaves for a layout before its messages have been sent. */
  'layout followed unannounced': inProduct('isAnnounced', always(true)),
  'no holder never told': inProduct('publishNoHolder', always(undefined)),
  'doubt never told': inProduct('doubtPublisher', (_, removed) => () => ({
    published: () => false,
    written: async ({ doubt }: { readonly doubt?: unknown }) => {
      if (doubt) removed();
    },
  })),
  'no surge limit': inProduct('mayTurn', always(true)),
  'no socket limit': inProduct('fitsBudget', always(true)),
  'no late probes': inProduct(
    'observedNow',
    (_, removed) =>
      (_targets: never, { observedAtMs }: { readonly observedAtMs: number }) => {
        removed();
        return { observedAtMs, behind: {}, late: 0 };
      },
  ),
  /** A run begins as if everything had been done before it. */
  'doubt and delay not inherited': inProduct('inheritedFrom', (original: AnyOf<object>, removed) => (...args) => {
    removed();
    return { ...original(...args), degraded: false, behind: {} };
  }),
  /** Of two shards that had one name the later one speaks for the buckets of both. */
  'RUN of another layout believed': inProduct('observedFor', (_, removed) => (_epoch: never, run: unknown) => {
    removed();
    return run;
  }),
  'nothing owed at hand-over': inProduct('isPendingAtHandover', always(false)),
  /** A holder that looks between the addition and the write sees nothing of the write. */
  'changes counted once': inProduct('touchChanges', (original: Counts, removed) => async (deps, address, growth) => {
    if (growth === undefined) return original(deps, address);
    removed();
  }),
  /** A holder that looks at a target with something open goes by what it has in memory. */
  'open targets not read again': inProduct(
    'readAgain',
    (_, removed) => async (_run: never, due: readonly HeldTarget[]) => {
      removed();
      return new Map(due.map((held) => [held.address.prefix, rememberedOf(held)]));
    },
  ),
  'rescues refused': inProduct('reasonToDrop', (original: Drops, removed) => async (ports, message, ...rest) => {
    if (message.kind !== 'rescue') return original(ports, message, ...rest);
    removed();
    return 'rescueTooOld';
  }),
} as const satisfies { readonly [protection: string]: Replacement };

const rememberedOf = ({ address, target, report, status, records }: HeldTarget) => ({
  address,
  target,
  status,
  probes: Object.fromEntries(records),
  ...(report && { report }),
});

type Probes = { readonly [probe: string]: ProbeRecord };

function readinessAsLiveness(probes: Probes): Probes {
  const swapped = Object.entries(probes).map(([name, probe]) => {
    const readiness = probes[`${probe.container}#readiness`];
    if (probe.probeType !== 'liveness' || !readiness?.result) return [name, probe];
    return [name, { ...probe, result: readiness.result, containerID: readiness.containerID }];
  });
  return Object.fromEntries(swapped);
}
