/**
 * Turns commits into the operations of one transaction: first the fence of each bucket, then the changes of each
 * commit, on condition that its item is as it was read.
 */
import type { EventRecord, ProbeRecord } from '../../core/spec/records.ts';
import { probeName } from '../../core/spec/spec.ts';
import {
  encodeEpoch,
  encodeEvent,
  encodeLatest,
  encodeProbe,
  stoppedAttribute,
  updateTo,
} from '../../store/records/items.ts';
import { type Bucket, epochKey, type TargetAddress } from '../../store/records/keys.ts';
import type { Condition, Operation } from '../../store/store.ts';
import type { Run } from '../run.ts';

/** A change of one PROBE item together with its events, or events alone. */
export type Commit = {
  readonly address: TargetAddress;
  /** The item as it was last committed. The write is refused if the item no longer has this uid. */
  readonly before: ProbeRecord;
  /** Absent: nothing of it changes. */
  readonly after?: ProbeRecord;
  /** What the event history gets. */
  readonly events: readonly EventRecord[];
  /**
   * The transition, which is also kept under the probe's own key. The event history expires and is bounded; this copy
   * keeps the attempts behind a result for as long as it is shown.
   */
  readonly latest?: EventRecord;
};

export type CommitPlan = {
  readonly operations: readonly Operation[];
  /** For each operation the index of its commit; `epoch`: the operation is a fence. */
  readonly owners: readonly (number | 'epoch')[];
};

export function planCommits(run: Fenced, commits: readonly Commit[]): CommitPlan {
  const buckets = [...new Set(commits.map(({ address }) => address.bucket))];
  const written = commits.map(commitOperations);
  return {
    operations: [...buckets.map((bucket) => epochCheck(run, bucket)), ...written.flat()],
    owners: [...buckets.map(() => 'epoch' as const), ...written.flatMap((own, index) => own.map(() => index))],
  };
}

type Fenced = Pick<Run, 'token' | 'claimsOnWrite' | 'message' | 'ports'>;

/**
 * The fence: the operation that is part of every transaction in which a run writes to this bucket. It makes each write
 * of the run fail once a higher token has been set. A run that claims on write sets its own token with it; a check
 * would cost as many units.
 */
export function epochCheck({ token, claimsOnWrite, message, ports }: Fenced, bucket: Bucket): Operation {
  const own: Condition = { kind: 'equals', attribute: 'token', value: token };
  if (!claimsOnWrite) return { kind: 'check', key: epochKey(bucket), if: [own] };
  const lower: Condition = { kind: 'lessThan', attribute: 'token', value: token };
  const epoch = encodeEpoch(bucket, { token, shard: message.shard, claimedAtMs: ports.clock.nowMs() });
  return { ...updateTo(epoch), if: [{ kind: 'anyOf', conditions: [own, lower] }] };
}

/** Number of operations of a commit, without the fence of its bucket. */
export const operationsOf = ({ events, latest }: Commit): number => 1 + events.length + (latest ? 1 : 0);

function commitOperations(commit: Commit): readonly Operation[] {
  const { address, before, events, latest } = commit;
  const items = events.map((event) => encodeEvent(address, event));
  if (latest) items.push(encodeLatest(address, probeName(before.container, before.probeType), latest));
  return [probeOperation(commit), ...items.map((item): Operation => ({ kind: 'put', item }))];
}

/** An update, never a put: a purged item must not reappear. */
function probeOperation({ address, before, after }: Commit): Operation {
  const fence = after?.ended ? [] : [notStopped];
  if (after) return { ...updateTo(encodeProbe(address, after)), if: [...unchangedSince(before, after), ...fence] };
  const { pk, sk } = encodeProbe(address, before);
  return { kind: 'check', key: { pk, sk }, if: [...sameVersion(before), ...fence] };
}

/**
 * The target has not been deleted, as far as this probe is concerned: a liveness or startup verdict of a holder that
 * has not noticed the deletion yet is refused, and the holder reads the target again. TARGET itself is no part of the
 * transaction, since a check costs as many units as a write.
 */
const notStopped: Condition = { kind: 'absent', attribute: stoppedAttribute };

/** Condition on a PROBE item: it has this uid, and no other commit has changed it meanwhile. */
export const sameVersion = ({ uid, version }: ProbeRecord): readonly Condition[] => [
  { kind: 'equals', attribute: 'uid', value: uid },
  { kind: 'equals', attribute: 'version', value: version },
];

/** Like `sameVersion`. If the commit changes the verdict, the stored one must also differ from the new one. */
export function unchangedSince(before: ProbeRecord, after: ProbeRecord): readonly Condition[] {
  const same = sameVersion(before);
  const isVerdict = after.result !== before.result || after.containerID !== before.containerID;
  if (after.version === before.version || after.result === undefined || !isVerdict) return same;
  // As in kubelet's Set, an update is emitted only if the write changes something.
  const differs: Condition = {
    kind: 'anyOf',
    conditions: [
      { kind: 'notEquals', attribute: 'result', value: after.result },
      { kind: 'notEquals', attribute: 'containerID', value: after.containerID },
    ],
  };
  return [...same, differs];
}
