/** S6: nothing is written for a purged uid, and what one incarnation has no other one writes. */
import { keyKind } from '../store.ts';
import type { Checker } from './checker.ts';

const ofOneUid: ReadonlySet<string> = new Set(['TARGET', 'REPORT', 'PROBE', 'STATUS', 'EVENT']);

export const s6: Checker = (_, violated) => {
  const purged = new Map<string, number>();
  return {
    applied({ writer, changes, timeMs }) {
      for (const { key, before, after } of changes) {
        const kind = keyKind(key);
        if (!ofOneUid.has(kind)) continue;
        const [old, uid] = [before?.uid, after?.uid];
        if (typeof uid === 'string' && purged.has(uid))
          violated(`${writer} wrote ${kind} ${key.sk} of ${uid}, purged at ${purged.get(uid)}`);
        if (old !== undefined && uid !== undefined && old !== uid)
          violated(`${writer} wrote ${kind} ${key.sk} of ${old} as one of ${uid}`);
        if (!before && (kind === 'PROBE' || kind === 'STATUS') && !writer.startsWith('api'))
          violated(`${writer} made ${kind} ${key.sk}`);
      }
      for (const { key, before, after } of changes)
        if (keyKind(key) === 'TARGET' && before && !after) purged.set(String(before.uid), timeMs);
    },
  };
};
