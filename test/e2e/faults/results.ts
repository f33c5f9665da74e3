/** What became of the results of all probes between two looks into the store's file. */
import { readSnapshot, type Snapshot } from '../kill/snapshot.ts';

export type Results = {
  /** Results that changed to a failure, as the history has them. */
  readonly failures: readonly Failure[];
  /** The target of each PROBE item whose version or result is another one. */
  readonly changed: readonly string[];
};

export type Failure = { readonly target: string; readonly timeMs: number; readonly text: string };

export const readResults = readSnapshot;

export function changesSince(before: Snapshot, after: Snapshot): Results {
  const known = new Map(before.probes.map(({ sk, record }) => [sk, record]));
  const changed = after.probes.filter(({ sk, record }) => {
    const earlier = known.get(sk);
    return earlier?.version !== record.version || earlier.result !== record.result;
  });
  const told = new Set(before.events.map(({ sk }) => sk));
  const failures = after.events.filter(
    ({ sk, record }) => !told.has(sk) && record.kind === 'transition' && record.result === 'failure',
  );
  return { failures: failures.map(failureOf), changed: changed.map(({ target }) => target) };
}

function failureOf({ target, record }: Snapshot['events'][number]): Failure {
  const at = new Date(record.timeMs).toISOString();
  return { target, timeMs: record.timeMs, text: `${at} ${target}: ${JSON.stringify(record.attempts)}` };
}
