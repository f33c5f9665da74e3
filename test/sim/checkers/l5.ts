/**
 * L5: no bucket with targets is without a holder for more than 30 s after one crash; and once faults have stopped, all are held again in the
 * time that a crash before the first heartbeat costs. A bucket is held while the run whose token stands in its EPOCH beats.
 */
import { epochKey, runKey, targetAddress } from '../../../shared/store/keys.ts';
import { keyKind } from '../store.ts';
import { type Checker, recoveryMs } from './checker.ts';

/** A beat every 5 s, and what it takes. */
const beatMs = 7_500;
const crashMs = 30_000;
const aftermathMs = 60_000;
const firstBeatMs = 5_000;

export const l5: Checker = ({ ledger, table, faults, nowMs }, violated) => {
  /** By shard, when its RUN was last written. */
  const beats = new Map<string, number>();
  const told = new Map<string, number>();
  const lastRunMs = new Map<string, number>();

  const heldMs = (bucket: string): { readonly shard: string; readonly sinceMs: number } | undefined => {
    const epoch = table.get(epochKey(bucket));
    if (typeof epoch?.shard !== 'string') return undefined;
    const run = table.get(runKey(epoch.shard));
    return run?.token === epoch.token ? { shard: epoch.shard, sinceMs: beats.get(epoch.shard) ?? 0 } : undefined;
  };

  const look = (bucket: string) => {
    const held = heldMs(bucket);
    if (!held) return;
    const unheldMs = nowMs() - held.sinceMs;
    if (unheldMs <= beatMs + 1_000 || told.get(held.shard) === held.sinceMs) return;
    const felt = faults.during(held.sinceMs - aftermathMs, nowMs());
    const crashes = felt.filter(({ kind }) => kind === 'crash');
    const calmMs = faults.calmSinceMs();
    const isLongCalm = calmMs !== undefined && nowMs() - calmMs > recoveryMs;
    const beganMs = lastRunMs.get(crashes[0]?.process ?? '') ?? Number.NEGATIVE_INFINITY;
    const isEarly = crashes[0] !== undefined && crashes[0].timeMs - beganMs < firstBeatMs;
    const allowedMs =
      felt.length === 0
        ? beatMs
        : felt.length === crashes.length && felt.length === 1 && !isEarly
          ? crashMs + beatMs
          : undefined;
    if (isLongCalm ? unheldMs <= crashMs : allowedMs === undefined || unheldMs <= allowedMs) return;
    told.set(held.shard, held.sinceMs);
    violated(`shard ${held.shard} with bucket ${bucket} has had no beat for ${unheldMs} ms, since ${held.sinceMs}`);
  };

  return {
    runStarted: ({ life, timeMs }) => void lastRunMs.set(life.name.slice(0, life.name.lastIndexOf('.')), timeMs),
    applied({ timeMs, changes }) {
      for (const { key } of changes) if (keyKind(key) === 'RUN') beats.set(key.pk.slice('RUN#'.length), timeMs);
    },
    ticked() {
      const buckets = new Set(
        [...ledger.targets()].map(({ namespace, name }) => targetAddress(namespace, name).bucket),
      );
      for (const bucket of buckets) look(bucket);
    },
  };
};
