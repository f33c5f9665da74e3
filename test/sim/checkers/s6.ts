/** S6: nothing is written for a purged uid, and no incarnation writes items of another one. */
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import type { Checker } from './checker.ts';

const ofOneUid: ReadonlySet<string> = new Set(['TARGET', 'REPORT', 'PROBE', 'STATUS', 'EVENT']);

export const s6: Checker = (_, violated) => {
  const purged = new Map<unknown, number>();
  const check = (writer: string, { key, before, after }: Change) => {
    const kind = keyKind(key);
    if (!ofOneUid.has(kind) || !after) return;
    const what = `${writer} wrote ${kind} ${key.sk}`;
    if (purged.has(after.uid)) violated(`${what} of ${after.uid}, purged at ${purged.get(after.uid)}`);
    // A purged target's event history may be overwritten: it only waits for its TTL.
    if (before && before.uid !== after.uid && kind !== 'EVENT')
      violated(`${what} of ${before.uid} as one of ${after.uid}`);
    const isMade = !before && (kind === 'PROBE' || kind === 'STATUS');
    if (isMade && !writer.startsWith('api')) violated(`${what}, which was not there`);
  };
  return {
    applied({ writer, changes, timeMs }) {
      for (const change of changes) check(writer, change);
      for (const { key, before, after } of changes)
        if (keyKind(key) === 'TARGET' && before && !after) purged.set(before.uid, timeMs);
    },
  };
};
