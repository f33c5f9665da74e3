/** On which condition a commit is written: its PROBE item is what it was when the commit was decided. */
import type { ProbeRecord } from '../core/records.ts';
import type { Condition } from '../store/store.ts';

/** Of this uid, and nobody has committed in between. */
export const sameVersion = ({ uid, version }: ProbeRecord): readonly Condition[] => [
  { kind: 'equals', attribute: 'uid', value: uid },
  { kind: 'equals', attribute: 'version', value: version },
];

/** Where the result changes, also that it does. */
export function unchangedSince(before: ProbeRecord, after: ProbeRecord): readonly Condition[] {
  const same = sameVersion(before);
  const isVerdict = after.result !== before.result || after.containerID !== before.containerID;
  if (after.version === before.version || after.result === undefined || !isVerdict) return same;
  // kubelet's Set: an update is emitted only if the write changes something.
  const differs: Condition = {
    kind: 'anyOf',
    conditions: [
      { kind: 'notEquals', attribute: 'result', value: after.result },
      { kind: 'notEquals', attribute: 'containerID', value: after.containerID },
    ],
  };
  return [...same, differs];
}
