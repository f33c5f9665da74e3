/**
 * What the event history of a target knows of the findings of a probe. It has the attempts behind each change and each
 * of kubelet's events, not every attempt, so between two of them others may be missing. Pure.
 */
import type { EventView } from '../../../shared/api/routes/events.ts';
import { isRetriable } from '../../../shared/core/kubelet/probe-report.ts';
import type { RehearsedFinding } from '../../../shared/core/status/rehearsal.ts';

export type RecordedFinding = {
  /** ms since the epoch. */
  readonly atMs: number;
  readonly finding: RehearsedFinding;
  readonly containerID: string;
  /** The result that the API published after this finding, if it changed. */
  readonly published?: string;
};

/** Findings of one container without a missing one between them. */
export type FindingRow = {
  readonly findings: readonly RecordedFinding[];
  /** About how many are missing before the first one, by the period; 0: the container is another one. */
  readonly missing?: number;
};

export type RecordedProbe = {
  readonly container: string;
  readonly probeType: string;
  /** The period of the spec as it is now. */
  readonly periodSeconds: number;
};

/** Oldest first. */
export function findingRows(events: readonly EventView[], probe: RecordedProbe): readonly FindingRow[] {
  const own = events.filter((each) => each.container === probe.container && each.probeType === probe.probeType);
  const known = new Map<string, RecordedFinding>();
  /** Keys of findings that follow the finding before them directly, as one event has both. */
  const following = new Set<string>();
  for (const event of own)
    for (const [place, { key, ...finding }] of findingsOf(event).entries()) {
      known.set(key, { ...known.get(key), ...finding });
      if (place > 0) following.add(key);
    }
  const periodMs = probe.periodSeconds * 1_000;
  const rows: { findings: RecordedFinding[]; missing?: number }[] = [];
  for (const [key, finding] of [...known].toSorted(([, a], [, b]) => a.atMs - b.atMs)) {
    const row = rows.at(-1);
    const last = row?.findings.at(-1);
    const missing = last ? missingBetween(last, finding, periodMs) : undefined;
    const isNext = last?.containerID === finding.containerID && (following.has(key) || missing === 0);
    if (row && isNext) row.findings.push(finding);
    else rows.push({ findings: [finding], ...(missing !== undefined && { missing }) });
  }
  return rows;
}

const missingBetween = (last: RecordedFinding, next: RecordedFinding, periodMs: number): number =>
  Math.max(0, Math.round((next.atMs - last.atMs) / periodMs) - 1);

type KeyedFinding = RecordedFinding & { readonly key: string };

type AttemptView = EventView['attempts'][number];

/** One a probe: an error is tried again at once, up to three times in all, and the last attempt decides. */
function findingsOf({ attempts, containerID = '', kind, result }: EventView): readonly KeyedFinding[] {
  const last = attempts.length - 1;
  return attempts.flatMap((attempt, place): readonly KeyedFinding[] => {
    if (place < last && isRetriable(attempt)) return [];
    const published = kind === 'transition' && place === last ? { published: result ?? 'none' } : {};
    return [
      {
        key: attempt.time,
        atMs: Date.parse(attempt.time),
        finding: attemptFinding(attempt),
        containerID,
        ...published,
      },
    ];
  });
}

function attemptFinding({ error, outcome }: AttemptView): RehearsedFinding {
  if (error !== undefined) return 'error';
  return outcome === 'success' || outcome === 'warning' ? 'success' : 'failure';
}
