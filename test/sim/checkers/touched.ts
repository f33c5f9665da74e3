/**
 * How much of a span faults can have cost a shard its holder. Each fault counts from its begin to its end and an
 * aftermath, the time that the product needs to recover (docs/testing.md).
 */
import type { Lock, Span } from '../fault-log.ts';
import type { DoneFault, FaultKind } from '../faults.ts';
import { slotMs } from '../oracle/timing.ts';
import type { Facts } from './checker.ts';

/** The lease ends (15 s), another process receives, claims and loads: at most 25 s after one crash. */
const takeOverMs = 25_000;
/** A rescue follows a beat that is 30 s old with the next tick of a minute, and looks for 6 s. */
const tickMs = 60_000;
const rescueMs = tickMs + 30_000 + 6_000 + takeOverMs;
/**
 * After a late claim, of a paused process or a delayed request: it fences the holder, whose message is acknowledged,
 * and then finds its own lease lost. The rescue of the next tick takes the shard.
 */
const lateClaimMs = rescueMs;
/** Two beats: until all holders of the previous layout have left. */
const leavingMs = 10_000;
/** The longest delay of a message in the simulated queue. */
const queueDelayMs = 150_000;

const aftermathMs: { readonly [kind in FaultKind]?: number } = {
  crash: takeOverMs,
  pause: lateClaimMs,
  'store throttled': takeOverMs,
  'store slow': takeOverMs,
  'store answer lost': takeOverMs,
  'store in doubt': lateClaimMs,
  'store late write': lateClaimMs,
  'store conflict': takeOverMs,
  'store outage': rescueMs,
  partition: lateClaimMs,
  'queue unreachable': takeOverMs,
  'queue answer lost': takeOverMs,
  'queue duplicate': lateClaimMs,
  'queue delay': queueDelayMs + takeOverMs,
  'clock jump': takeOverMs,
  'probe pause': lateClaimMs,
  'tick missing': tickMs + takeOverMs,
  'tick late': tickMs + takeOverMs,
};

/** Whether it may have cost a shard its holder. */
export const strikesHolders = ({ kind, process }: DoneFault): boolean =>
  aftermathMs[kind] !== undefined && (process === undefined || /^(worker|lambda)/.test(process));

/** The part of the span that some fault, or its aftermath, touches. */
export function touchedMs({ faults, ledger }: Pick<Facts, 'faults' | 'ledger'>, { fromMs, toMs }: Span): number {
  const longestMs = Math.max(...Object.values(aftermathMs));
  const locks = faults.locks();
  // A shard lost while its group is locked waits for a rescue: its messages cannot be received.
  const isLocked = ({ timeMs, untilMs }: DoneFault) =>
    locks.some((lock) => lock.fromMs <= untilMs && timeMs <= lock.toMs);
  const spans = faults
    .during(fromMs - longestMs, toMs)
    .flatMap((fault) => spanOf(fault, isLocked(fault) ? rescueMs : 0));
  // A group locked by a process that died before its first heartbeat waits for a rescue.
  const locked = locks.map((lock) => ({ fromMs: lock.fromMs, toMs: lock.fromMs + rescueMs }));
  // Another rescue may be needed: a holder by a copy of a message, also by one from before the lock, ends with its
  // slot, a rescue for an earlier lock ends before this lock does, and a holder of the previous layout leaves for a
  // message that is locked. A holder whose own message was given to the process that died, because a heartbeat came
  // late, cannot take it from the queue at its slot's end.
  const isLeft = (lock: Lock) =>
    lock.toMs >= fromMs &&
    (lock.wasHeld ||
      ledger.laidOutMs() >= fromMs - leavingMs ||
      locks.some((earlier) => earlier.fromMs < lock.fromMs) ||
      faults.during(lock.fromMs - slotMs, fromMs).some(({ kind }) => kind === 'queue duplicate'));
  const left = locks.filter(isLeft).map(() => ({ fromMs, toMs: fromMs + rescueMs }));
  const within = [...spans, ...locked, ...left]
    .map((span) => ({ fromMs: Math.max(fromMs, span.fromMs), toMs: Math.min(toMs, span.toMs) }))
    .filter((span) => span.toMs > span.fromMs)
    .sort((one, other) => one.fromMs - other.fromMs);
  return unionMs(within);
}

function spanOf({ kind, timeMs, untilMs, process }: DoneFault, leastMs: number): readonly Span[] {
  const afterMs = aftermathMs[kind];
  // Faults of the API or status-sync cost no holder.
  const isElsewhere = process !== undefined && !/^(worker|schedule)/.test(process);
  // A schedule that dies or stands still has not sent its tick's messages: the next tick does.
  const lostTickMs = process?.startsWith('schedule') ? rescueMs : 0;
  return afterMs === undefined || isElsewhere
    ? []
    : [{ fromMs: timeMs, toMs: untilMs + Math.max(afterMs, lostTickMs, leastMs) }];
}

/** Of spans in the order of their begin. */
function unionMs(spans: readonly Span[]): number {
  let sumMs = 0;
  let coveredMs = Number.NEGATIVE_INFINITY;
  for (const { fromMs, toMs } of spans) {
    sumMs += Math.max(0, toMs - Math.max(coveredMs, fromMs));
    coveredMs = Math.max(coveredMs, toMs);
  }
  return sumMs;
}
