/** S1: no commit with an epoch older than its bucket's. */
import { isRun } from '../ledger.ts';
import { keyKind } from '../store.ts';
import type { Checker } from './checker.ts';

export const s1: Checker = ({ ledger, table }, violated) => ({
  applied({ writer, changes }) {
    if (!isRun(writer)) return;
    const token = ledger.tokenOf(writer);
    for (const { key, after } of changes) {
      const kind = keyKind(key);
      if (kind === 'LAYOUT') continue;
      if (token === undefined) violated(`${writer} wrote ${kind} before it had claimed anything`);
      if (kind === 'RUN' && after?.token !== token) violated(`${writer} with ${token} beat in the run of ${after?.token}`);
      if (kind !== 'PROBE' && kind !== 'CHECKPOINT' && kind !== 'EVENT') continue;
      const epoch = table.get({ pk: key.pk.replace('E#', 'B#'), sk: 'EPOCH' })?.token;
      if (epoch !== token) violated(`${writer} with ${token} wrote ${kind} ${key.sk} in the epoch of ${epoch}`);
    }
  },
});
