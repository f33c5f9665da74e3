/** Purges: a target is purged when the grace period of its deletion has passed, and never before. */
import { keyKind } from '../store.ts';
import type { Checker } from './checker.ts';
import { smallSkewMs } from './skew.ts';

type Deletion = { readonly sentMs: number; readonly graceMs: number };

/** A request may be applied so long after it was sent: its process may stand still. */
const lateMs = 300_000;

export const purges: Checker = (_, violated) => {
  /** By namespace and name. */
  const deletions = new Map<string, readonly Deletion[]>();
  const registered = new Map<string, number>();
  return {
    asked({ method, path }, sentMs) {
      const [, name, seconds] = /targets\/([^?]+)\?gracePeriodSeconds=(\d+)$/.exec(path) ?? [];
      if (method !== 'DELETE' || name === undefined) return;
      deletions.set(name, [...(deletions.get(name) ?? []), { sentMs, graceMs: Number(seconds) * 1000 }]);
    },
    applied({ timeMs, writer, changes }) {
      for (const { key, before, after } of changes) {
        if (keyKind(key) !== 'TARGET') continue;
        const name = String((after ?? before)?.name);
        if (!before) registered.set(name, timeMs);
        if (after) continue;
        const sinceMs = (registered.get(name) ?? 0) - lateMs;
        const asked = (deletions.get(name) ?? []).filter(({ sentMs }) => sentMs >= sinceMs);
        deletions.set(name, asked);
        const dueMs = Math.min(...asked.map(({ sentMs, graceMs }) => sentMs + graceMs));
        if (timeMs < dueMs - 2 * smallSkewMs)
          violated(`${writer} purged ${key.sk} at ${timeMs}, its grace period ends at ${dueMs}`);
      }
    },
  };
};
