/**
 * L5: no bucket with targets is without a holder for more than 30 s after one crash, or at all without faults, and no
 * longer than a crash before the first heartbeat costs once faults have stopped. While a release of functions is
 * deployed that does not start, no message is taken by one that does: the time counts from its end. A bucket is held
 * while the run that may commit in it beats; a shard in tick mode for a moment each minute.
 */
import { epochKey, runKey, targetAddress } from '../../../shared/store/records/keys.ts';
import { isOfRun } from '../store.ts';
import { aftermathMs, type Checker, type Facts, lockAftermathMs, recoveryMs } from './checker.ts';
import { shardsOf } from './shards.ts';
import { touchedMs } from './touched.ts';

/** A beat every 5 s, what it takes, and the drain and the claim of a hand-over. */
const beatMs = 12_000;
const crashMs = 30_000;
/** A crash before the first heartbeat: a rescue is sent a tick after the beat is 30 s old, and looks for 6 s. */
const lockedMs = 130_000;
/** A rescue of a shard is void once its layout changes, and the next tick sends another (docs/design/holding.md). */
const voidRescueMs = 60_000;
const tickModeMs = 300_000;

export const l5: Checker = (facts, violated) => {
  const { ledger, table, nowMs } = facts;
  /** By shard, when its RUN was last written, and the last violation reported. */
  const beats = new Map<string, number>();
  const reported = new Map<string, number>();

  const look = (bucket: string) => {
    const epoch = table.get(epochKey(bucket));
    const shard = String(epoch?.shard);
    // The run that has claimed the bucket has not beaten yet, or the reverse; soon it will.
    if (!epoch || table.get(runKey(shard))?.token !== ledger.epochOf(bucket)) return;
    const sinceMs = beats.get(shard) ?? 0;
    const unheldMs = nowMs() - Math.max(sinceMs, startsFromMs(facts, sinceMs));
    if (unheldMs <= beatMs || reported.get(shard) === sinceMs) return;
    const leastMs = shardsOf(facts).find(({ name }) => name === shard)?.mode === 'tick' ? tickModeMs : 0;
    if (unheldMs <= Math.max(leastMs, allowedMs(facts, sinceMs))) return;
    reported.set(shard, sinceMs);
    violated(`shard ${shard} with bucket ${bucket} has had no beat for ${unheldMs} ms, since ${sinceMs}`);
  };

  return {
    applied({ timeMs, changes }) {
      for (const change of changes) if (isOfRun(change)) beats.set(change.key.pk.slice('RUN#'.length), timeMs);
    },
    ticked() {
      const buckets = [...ledger.targets()].map(({ namespace, name }) => targetAddress(namespace, name).bucket);
      for (const bucket of new Set(buckets)) look(bucket);
    },
  };
};

/** When the last release that does not start is taken back. */
const startsFromMs = ({ faults, nowMs }: Facts, sinceMs: number): number =>
  Math.max(0, ...faults.during(sinceMs, nowMs()).map(({ kind, untilMs }) => (kind === 'release broken' ? untilMs : 0)));

function allowedMs(facts: Facts, sinceMs: number): number {
  const { faults, ledger, nowMs } = facts;
  const felt = faults.during(sinceMs - aftermathMs, nowMs());
  const isLocked = faults.lockedMs() > sinceMs - lockAftermathMs;
  const calmMs = faults.calmSinceMs();
  if (felt.length === 0 && !isLocked) return beatMs;
  if (calmMs !== undefined && nowMs() - calmMs > recoveryMs) {
    const isLaidOut = ledger.laidOutMs() >= sinceMs;
    return isLocked ? lockedMs + (isLaidOut ? voidRescueMs : 0) : crashMs + beatMs;
  }
  const isOneCrash = felt.length === 1 && felt[0]?.kind === 'crash' && !isLocked;
  const touchedByMs = touchedMs(facts, { fromMs: sinceMs, toMs: nowMs() });
  return isOneCrash ? crashMs + beatMs : crashMs + beatMs + touchedByMs;
}
