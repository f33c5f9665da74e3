/** Decisions of the product that are made wrongly, one exported function each; see removals.ts. */
import type * as countChange from '../../../shared/api/count-change.ts';
import type * as freshness from '../../../shared/core/freshness.ts';
import type { ProbeRecord, TargetState } from '../../../shared/core/records.ts';
import type * as restartRequests from '../../../shared/core/restart-requests.ts';
import type * as room from '../../../shared/core/room.ts';
import type * as staticLifecycle from '../../../shared/core/static-lifecycle.ts';
import type * as sync from '../../../shared/core/sync.ts';
import type * as ticker from '../../../shared/core/ticker.ts';
import type * as velocity from '../../../shared/core/velocity.ts';
import type * as worker from '../../../shared/core/worker.ts';
import type * as doubtEvents from '../../../shared/manager/doubt-events.ts';
import type * as dropReason from '../../../shared/manager/drop-reason.ts';
import type { HeldTarget } from '../../../shared/manager/held.ts';
import type * as noHolder from '../../../shared/manager/no-holder.ts';
import type * as predecessors from '../../../shared/manager/predecessors.ts';
import type * as readAgain from '../../../shared/manager/read-again.ts';
import type { ReadTarget } from '../../../shared/manager/read-target.ts';
import type * as late from '../../../shared/manager/seen.ts';
import type * as runOfEpoch from '../../../shared/store/run-of-epoch.ts';
import { type Replacement, replacementIn } from './replacement.ts';

export const decisionRemovals = {
  /** A container whose readiness probe fails is restarted. */
  'readiness taken for liveness': replacementIn<typeof sync>()(
    'shared/core/sync.ts',
    'planSync',
    (original, removed) => (state, nowMs) => {
      removed();
      return original({ ...state, probes: readinessAsLiveness(state.probes) }, nowMs);
    },
  ),
  /** A deleted target does not get its grace period. */
  'purged at once': replacementIn<typeof sync>()(
    'shared/core/sync.ts',
    'planSync',
    (original, removed) => (state, nowMs) => {
      const { target } = state;
      if (target.deletionTimestampMs === undefined) return original(state, nowMs);
      removed();
      return original({ ...state, target: { ...target, deletionTimestampMs: 0 } }, nowMs);
    },
  ),
  /** A repeated request does not wait for its back-off. */
  'no back-off': replacementIn<typeof restartRequests>()(
    'shared/core/restart-requests.ts',
    'advanceRequests',
    (original, removed) => (state, failing, nowMs) => {
      const { open, outbox } = original(state, failing, nowMs);
      const soon = Object.entries(open).map(([name, request]) => {
        if (request.nextAtMs <= nowMs + backoffMutantMs) return [name, request];
        removed();
        return [name, { ...request, nextAtMs: nowMs + backoffMutantMs }];
      });
      return { open: Object.fromEntries(soon), outbox };
    },
  ),
  /** A static container that is reported as restarted stays the one that it was. */
  'restarts not taken in': replacementIn<typeof staticLifecycle>()(
    'shared/core/static-lifecycle.ts',
    'incarnationOf',
    (original, removed) => (target, container) => {
      const incarnation = original(target, container);
      if (incarnation.restartCount > 0) removed();
      return { ...incarnation, restartCount: 0 };
    },
  ),
  /** The recovery of a static container is told as soon as its restart is reported. */
  'recovered without a verdict': replacementIn<typeof restartRequests>()(
    'shared/core/restart-requests.ts',
    'advanceRequests',
    (original, removed) => (state, failing, nowMs) => {
      const { open, outbox } = original(state, failing, nowMs);
      const answered = Object.entries(open).filter(([, { answered }]) => answered);
      if (answered.length === 0) return { open, outbox };
      removed();
      const claims = answered.map(([container, { id, probeType, requestedAtMs, published }]) => ({
        id: `${id}/${requestedAtMs}/recovered`,
        detailType: 'Container Recovered',
        timeMs: nowMs,
        detail: {
          container,
          containerID: staticIDOf(state, container),
          probeType,
          message: '',
          attempts: published,
          failedSinceMs: requestedAtMs,
        },
      }));
      return {
        open: Object.fromEntries(Object.entries(open).filter(([, request]) => !request.answered)),
        outbox: [...outbox, ...claims],
      };
    },
  ),
  /** A restart request is published once, whatever becomes of it. */
  'requests told once': replacementIn<typeof restartRequests>()(
    'shared/core/restart-requests.ts',
    'advanceRequests',
    (original, removed) => (state, failing, nowMs) => {
      const { status } = state;
      // Far from now it would be due at once, as the mark of a wrong clock.
      const once = Object.entries(status.restartRequests).map(([name, request]) => {
        if (request.published === 0) return [name, request];
        removed();
        return [name, { ...request, nextAtMs: nowMs + 60_000 }];
      });
      return original({ ...state, status: { ...status, restartRequests: Object.fromEntries(once) } }, failing, nowMs);
    },
  ),
  /** A static container that has failed is not probed any more, as if a runtime were about to replace it. */
  'static workers on hold': replacementIn<typeof worker>()(
    'shared/core/worker.ts',
    'reduce',
    (original, removed) =>
      ({ probesOn, ...spec }, ...rest) => {
        if (probesOn) removed();
        return original(spec, ...rest);
      },
  ),
  'initial delay ignored': replacementIn<typeof worker>()(
    'shared/core/worker.ts',
    'decideGate',
    (original, removed) =>
      (spec, ...rest) => {
        if (spec.initialDelaySeconds > 0) removed();
        return original({ ...spec, initialDelaySeconds: 0 }, ...rest);
      },
  ),
  'stale ten times later': replacementIn<typeof freshness>()(
    'shared/core/freshness.ts',
    'staleAfterMs',
    (original, removed) =>
      (...args) => {
        removed();
        return 10 * original(...args);
      },
  ),
  'no holder never told': replacementIn<typeof noHolder>()(
    'shared/manager/no-holder.ts',
    'tellNoHolder',
    (_, removed) => async () => removed(),
  ),
  'doubt never told': replacementIn<typeof doubtEvents>()(
    'shared/manager/doubt-events.ts',
    'doubtTeller',
    (_, removed) => () => ({
      told: () => false,
      written: async ({ doubt }) => {
        if (doubt) removed();
      },
    }),
  ),
  'no surge limit': replacementIn<typeof velocity>()('shared/core/velocity.ts', 'mayTurn', (_, removed) => () => {
    removed();
    return true;
  }),
  'no socket limit': replacementIn<typeof room>()('shared/core/room.ts', 'hasRoom', (_, removed) => () => {
    removed();
    return true;
  }),
  'no late probes': replacementIn<typeof late>()(
    'shared/manager/seen.ts',
    'observedNow',
    (_, removed) =>
      (_targets, { observedAtMs }) => {
        removed();
        return { observedAtMs, behind: {}, late: 0 };
      },
  ),
  /** A run begins as if everything had been done before it. */
  'doubt and delay not inherited': replacementIn<typeof predecessors>()(
    'shared/manager/predecessors.ts',
    'inheritedFrom',
    (original, removed) => (runs) => {
      removed();
      return { ...original(runs), degraded: false, behind: {} };
    },
  ),
  /** Of two shards that had one name the later one speaks for the buckets of both. */
  'RUN of another layout believed': replacementIn<typeof runOfEpoch>()(
    'shared/store/run-of-epoch.ts',
    'observedFor',
    (_, removed) => (_epoch, run) => {
      removed();
      return run;
    },
  ),
  'nothing owed at hand-over': replacementIn<typeof ticker>()(
    'shared/core/ticker.ts',
    'isOwedAtHandover',
    (_, removed) => () => {
      removed();
      return false;
    },
  ),
  /** A holder that looks between the count and the write sees nothing of it. */
  'changes counted once': replacementIn<typeof countChange>()(
    'shared/api/count-change.ts',
    'countChange',
    (original, removed) => async (deps, address, growth) => {
      if (growth === undefined) return original(deps, address);
      removed();
    },
  ),
  /** A holder that looks at a target with something open goes by what it has in memory. */
  'open targets not read again': replacementIn<typeof readAgain>()(
    'shared/manager/read-again.ts',
    'readAgain',
    (_, removed) => async (_run, due) => {
      removed();
      return new Map(due.map((held) => [held.address.prefix, rememberedOf(held)]));
    },
  ),
  'rescues refused': replacementIn<typeof dropReason>()(
    'shared/manager/drop-reason.ts',
    'reasonToDrop',
    (original, removed) =>
      async (...args) => {
        if (args[1].kind !== 'rescue') return original(...args);
        removed();
        return 'rescueTooOld';
      },
  ),
} as const satisfies { readonly [protection: string]: Replacement };

/** Much less than any back-off. */
const backoffMutantMs = 1_000;

const staticIDOf = ({ target }: TargetState, container: string): string =>
  `probelet://${target.uid}/${container}/${target.incarnations?.[container]?.restartCount ?? 0}`;

const rememberedOf = ({ address, target, report, status, records }: HeldTarget): ReadTarget => ({
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
