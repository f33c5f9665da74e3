/**
 * What is wrong with the prober of this process, for alerts. It is read from the process itself and not from events:
 * an event needs a write, which a full disk refuses, it may be dropped, and it comes once, perhaps before the alert is
 * configured.
 */
import type { DegradedRange } from '../../../shared/alerts/seen.ts';
import { bucketCount } from '../../../shared/core/shards/slots.ts';
import type { RunView } from '../../../shared/holder/shard-run.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { hashRangeOf } from '../../../shared/store/records/keys.ts';
import type { StoreProblem } from '../process/store-health.ts';

/** A shard that is not held for so long is a problem. A start loads all targets first, and a run may follow another. */
export const noHolderMs = 60_000;
/** Writes that fail for so long are a problem. */
export const storeFailsMs = 10_000;

export type ProberView = Pick<RunView, 'shard' | 'hashRange'> & { readonly beat: Pick<RunView['beat'], Judged> };

type Judged = 'doubt' | 'overload';

export type ProberSources = {
  readonly clock: Clock;
  readonly shard: { view(): ProberView | undefined };
  readonly storeProblem: () => StoreProblem | undefined;
};

const whole = { shard: '00', hashRange: hashRangeOf({ from: 0, to: bucketCount }) };

/** Returns a function to call every few seconds, which says what is wrong now; undefined: that is not known. */
export function proberProblems({ clock, shard, storeProblem }: ProberSources) {
  let range: Pick<DegradedRange, 'shard' | 'hashRange'> = whole;
  let lost: { readonly sinceMs: number; readonly monotonicMs: number } | undefined;
  return (): readonly DegradedRange[] | undefined => {
    const nowMs = clock.monotonicMs();
    const view = shard.view();
    if (view) {
      lost = undefined;
      range = { shard: view.shard, hashRange: view.hashRange };
    } else lost ??= { sinceMs: clock.nowMs(), monotonicMs: nowMs };
    const failing = storeProblem();
    if (failing && nowMs - failing.monotonicMs >= storeFailsMs)
      return [...(view ? ofBeat(view) : []), ofStore(range, failing)];
    if (view) return ofBeat(view);
    if (!lost || nowMs - lost.monotonicMs < noHolderMs) return undefined;
    return [{ problem: 'holder', ...range, reason: 'NoHolder', sinceMs: lost.sinceMs }];
  };
}

function ofBeat({ shard, hashRange, beat: { doubt, overload } }: ProberView): readonly DegradedRange[] {
  const problems: DegradedRange[] = [];
  const range = { shard, hashRange };
  if (doubt) problems.push({ problem: 'doubt', ...range, reason: doubt.reason, sinceMs: doubt.sinceMs });
  if (overload) {
    const { reason: detail, sinceMs } = overload;
    problems.push({ problem: 'overload', ...range, reason: 'Overloaded', detail, sinceMs });
  }
  return problems;
}

const ofStore = (
  range: Pick<DegradedRange, 'shard' | 'hashRange'>,
  { sinceMs, message }: StoreProblem,
): DegradedRange => ({ problem: 'store', ...range, reason: 'StoreUnavailable', detail: message, sinceMs });
