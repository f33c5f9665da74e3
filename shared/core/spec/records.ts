/**
 * What is stored of a target between functions: one record per item of the table, each with one writer. See
 * docs/architecture.md, Table.
 */

import type { ProbeName, TargetSpec } from './spec.ts';
import type {
  Attempt,
  Condition,
  ContainerStatus,
  FailureClass,
  Phase,
  PodStatus,
  ProbeType,
  Result,
} from './types.ts';

/** TARGET, written by the API. */
export type TargetRecord = {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: { readonly [key: string]: string };
  readonly annotations: { readonly [key: string]: string };
  /** Grows by one with each change of the spec. */
  readonly generation: number;
  /** Grows by one with each change of spec or metadata; the ETag. */
  readonly resourceVersion: number;
  readonly creationTimestampMs: number;
  /** When the grace period ends; set: the target is terminating. */
  readonly deletionTimestampMs?: number;
  readonly deletionGracePeriodSeconds?: number;
  readonly spec: TargetSpec;
  /** Manual triggers so far, per probe; the holder fires once per increment. */
  readonly probeRequests: { readonly [probe: ProbeName]: number };
  /** One entry per container with lifecycle `static`. A container without an entry has run since the registration. */
  readonly incarnations?: { readonly [container: string]: Incarnation };
};

/** The present run of a `static` container: it began with the registration or with the last reported restart. */
export type Incarnation = {
  /** Number of reported restarts. */
  readonly restartCount: number;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** The generation with which the container joined the spec of a target that was registered without it. */
  readonly joinedGeneration?: number;
};

/** REPORT, written by the API for lifecycle `reported`. */
export type ReportRecord = {
  readonly uid: string;
  /** Grows by one with each report. */
  readonly version: number;
  readonly reportedAtMs: number;
  /**
   * By name, of containers that do not run: when the container began, ms since the epoch. That is its last reported
   * start, or else the report that first had its containerID. Without an entry: the registration.
   */
  readonly beganAtMs?: { readonly [container: string]: number };
  readonly phase?: Phase;
  readonly initContainerStatuses: readonly ContainerStatus[];
  readonly containerStatuses: readonly ContainerStatus[];
  /** Conditions of other owners, readiness gates among them. */
  readonly conditions: PodStatus['conditions'];
};

/** PROBE: results cache and worker state of one probe, written by the shard's holder. */
export type ProbeRecord = {
  readonly uid: string;
  readonly container: string;
  readonly probeType: ProbeType;
  /** containerID of the current incarnation; empty before the first. */
  readonly containerID: string;
  /**
   * Absent: this container's probe has no verdict yet, or the worker has ended. kubelet's initial values are never
   * stored.
   */
  readonly result?: Result;
  /**
   * Grows by exactly one with each verdict that differs from the previous one in result or containerID, with each
   * change of `unknown`, and when a worker with a result ends.
   */
  readonly version: number;
  /**
   * Grows by exactly one with each change of lastResult and each hold. It identifies the run that the stored length
   * belongs to.
   */
  readonly streak: number;
  readonly lastResult?: Result;
  readonly resultRun: number;
  readonly onHold: boolean;
  /** The worker has ended. It starts again while its container runs, or with a newer spec. */
  readonly ended: boolean;
  /** When the worker ended, ms since the epoch. Absent: it has not, or a release that does not say it ended it. */
  readonly endedAtMs?: number;
  /**
   * What the worker had found when it ended with its target: `started` and `ready` follow from it until the target is
   * gone. Absent: it had found nothing, or has ended for another reason.
   */
  readonly endedWith?: Finding;
  /** When `version` last grew, or the worker last began again, ms since the epoch. */
  readonly sinceMs: number;
  /** Digest of the probe's spec that the counters belong to. */
  readonly specDigest: string;
  /** Output of the probe that gave the result: at most `outputBytesMax` bytes, never a response body. */
  readonly output: string;
  readonly failureClass?: FailureClass;
  /** When the last probe that changed anything was done. Absent: no probe has. */
  readonly lastChangeTimeMs?: number;
  /** Set while the probe cannot be made: its last finding may no longer hold. A verdict clears it. */
  readonly unknown?: ProbeUnknown;
  /** Absent: it has written nothing to the event history. */
  readonly history?: HistoryBudget;
};

/** What is left to a probe of the event history: see history-budget.ts. */
export type HistoryBudget = {
  /** When as many entries at once are allowed as at first, ms since the epoch. */
  readonly fullAtMs: number;
  /** How often an event of this kind has occurred and was left out since the last one that was kept. */
  readonly omitted: { readonly [kind in EventRecord['kind']]?: number };
};

/** The present result of a probe. */
export type Finding = { readonly result?: Result; readonly unknown?: ProbeUnknown };

/** Why a probe cannot be made. */
export type ProbeUnknown = {
  /**
   * `PolicyDenied`: the dial policy forbids it. `ProberError`: a secret, a command, a runner or a name cannot be
   * resolved.
   */
  readonly reason: 'PolicyDenied' | 'ProberError';
  readonly failureClass: FailureClass;
  /** At most `outputBytesMax` bytes. */
  readonly message: string;
};

/** An open restart request: the container failed its liveness or startup probe and has not recovered since. */
export type RestartRequest = {
  readonly id: string;
  readonly containerID: string;
  readonly probeType: ProbeType;
  /** When the container first failed, ms since the epoch. */
  readonly requestedAtMs: number;
  readonly terminationGracePeriodSeconds: number;
  readonly message: string;
  /** Times the request was published; the next publication is due at `nextAtMs`. */
  readonly published: number;
  readonly nextAtMs: number;
  /** A restart was reported, and the new container has no verdict yet: nothing is published. */
  readonly answered?: boolean;
};

/**
 * An event that is written together with the state that it reports, published afterwards, and then cleared. `detail` is
 * the part that differs between events of one target.
 */
export type OutboxEvent = { readonly id: string; readonly timeMs: number } & (
  | {
      readonly detailType: 'Target Status Changed';
      readonly detail: {
        readonly resourceVersion: string;
        readonly oldStatus: ShownStatus;
        readonly newStatus: ShownStatus;
      };
    }
  | {
      readonly detailType: 'Container Restart Requested';
      readonly detail: AboutProbe & {
        readonly attempt: number;
        readonly restartPolicy: TargetSpec['restartPolicy'];
        readonly terminationGracePeriodSeconds: number;
      };
    }
  | {
      readonly detailType: 'Container Recovered';
      readonly detail: AboutProbe & { readonly attempts: number; readonly failedSinceMs: number };
    }
  /** A stored entry of a form that this release does not know. It is dropped instead of being published. */
  | { readonly detailType: 'Unreadable'; readonly storedType: string }
);

type AboutProbe = {
  readonly container: string;
  readonly containerID: string;
  readonly probeType: ProbeType;
  readonly message: string;
};

/** The part of a status that subscribers see. */
export type ShownStatus = {
  readonly phase: Phase;
  readonly conditions: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[];
  readonly containers: readonly (Pick<ContainerStatus, 'name' | 'containerID' | 'ready' | 'restartCount'> & {
    readonly started: boolean;
  })[];
};

/** STATUS, written by status-sync. */
export type StatusRecord = {
  readonly uid: string;
  /** Grows by one with each write. */
  readonly version: number;
  /** TARGET.resourceVersion and REPORT.version that this status has taken in. */
  readonly observedResourceVersion: number;
  readonly observedReportVersion: number;
  readonly status: PodStatus;
  readonly restartRequests: { readonly [container: string]: RestartRequest };
  /** The version of each PROBE item that this status has taken in. */
  readonly acked: { readonly [probe: ProbeName]: number };
  readonly outbox: readonly OutboxEvent[];
};

/** Everything of one target that a decision may read. */
export type TargetState = {
  readonly target: TargetRecord;
  readonly report?: ReportRecord;
  readonly status: StatusRecord;
  readonly probes: { readonly [probe: ProbeName]: ProbeRecord };
};

/** EVENT: one entry of a target's event history; ids sort by time. */
export type EventRecord = {
  /** Sorts by time; stable, so that a repetition writes the same item. */
  readonly id: string;
  readonly uid: string;
  readonly timeMs: number;
  /** `transition`: a result changed; the others: kubelet's recorded events, the lifecycle's, and requested probes. */
  readonly kind: 'transition' | 'recorded';
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly container?: string;
  readonly probeType?: ProbeType;
  readonly containerID?: string;
  readonly result?: Result;
  readonly previousResult?: Result;
  /** This is the first verdict of this container's probe. */
  readonly initial?: boolean;
  /** How often this event has occurred since it was last recorded. */
  readonly count: number;
  /** The attempts that led to it, oldest first. */
  readonly attempts: readonly (Attempt & { readonly timeMs: number })[];
};

/** HANG, written by a watchdog or by the next start: which probes of a target have hung the event loop. */
export type HangRecord = {
  readonly uid: string;
  /** Grows by exactly one with each hang. */
  readonly version: number;
  /** Generation of the spec that has these probes. With another generation the counts start again. */
  readonly generation: number;
  /** When the last hang was found, ms since the epoch. */
  readonly hungAtMs: number;
  readonly hangs: { readonly [probe: ProbeName]: number };
};
