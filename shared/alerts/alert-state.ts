/** What alerts remember between decisions. It is plain JSON and bounded. */

export type Cause = 'NotReady' | 'RestartRequested' | 'ProberDegraded';

export type Incident = {
  /** Stable: derived from the alert, the target and the beginning. */
  readonly id: string;
  readonly alert: string;
  readonly cause: Cause;
  /** Empty for the prober. */
  readonly namespace: string;
  /** The name of the target; for the prober its range. */
  readonly name: string;
  /** The uid of the target; empty for the prober. */
  readonly uid: string;
  /** By the wall clock, ms since the epoch. */
  readonly sinceMs: number;
  /** The same in steady time, from which `for` is measured. Absent: kept by an earlier release. */
  readonly beganMs?: number;
  readonly message: string;
  /** The values of the alert's `groupBy` labels. */
  readonly groupLabels: { readonly [label: string]: string };
  readonly receivers: readonly string[];
  /** When nothing is said of it. Absent: at no time. */
  readonly silences?: readonly SilencedTime[];
  /** Ready is Unknown at present, so nothing is said of it. */
  readonly isUnknown?: true;
  /** The batch that reports it. Absent: it has not lasted long enough, or is silenced. */
  readonly batch?: string;
};

/** ms since the epoch; the end is no part of it. */
export type SilencedTime = { readonly fromMs: number; readonly untilMs: number };

export type EndedIncident = Incident & { readonly resolvedMs: number };

/** Incidents of one group that began within one window. They share their notifications. */
export type Batch = {
  /** The id of its first incident, with a number behind it while another batch has that. */
  readonly id: string;
  readonly alert: string;
  readonly group: string;
  readonly receivers: readonly string[];
  readonly sendResolved: boolean;
  readonly remindMs?: number;
  /** Keys of incidents that last. */
  readonly firing: readonly string[];
  /** Incidents that have ended and are not reported yet. */
  readonly ended: readonly EndedIncident[];
  /** When the current window ends, in steady time. Absent: no window is open. */
  readonly reportAtMs?: number;
  /** When it was last reported, in steady time. Absent: not reported yet. */
  readonly reportedMs?: number;
  /** Notifications so far. */
  readonly sequence: number;
};

/** More incidents than can be kept. */
export type Overflow = {
  readonly id: string;
  readonly sinceMs: number;
  /** Refused since the last scan. */
  readonly refused: number;
};

export type AlertState = {
  readonly incidents: { readonly [key: string]: Incident };
  readonly batches: { readonly [id: string]: Batch };
  readonly overflow?: Overflow;
};

export const noAlerts: AlertState = { incidents: {}, batches: {} };

/** `firing` is the first notification of a batch; `resolved` reports some or all of its incidents as ended. */
export type NotificationKind = 'firing' | 'reminder' | 'resolved' | 'overflow' | 'overflowEnded';

export type Notification = {
  /** Stable, so that a receiver recognizes a repeated delivery. */
  readonly id: string;
  readonly kind: NotificationKind;
  /** Common to all notifications of one batch. */
  readonly batch: string;
  readonly alert: string;
  readonly receivers: readonly string[];
  readonly atMs: number;
  /** Those that are reported: lasting, or for `resolved` ended. */
  readonly incidents: readonly (Incident | EndedIncident)[];
  /** Incidents of the batch that last. */
  readonly remaining: number;
};

/** Whether the notification ends what its batch began. */
export const isClosing = ({ kind, remaining }: Pick<Notification, 'kind' | 'remaining'>): boolean =>
  kind === 'overflowEnded' || (kind === 'resolved' && remaining === 0);
