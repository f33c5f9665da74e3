/** S1: no commit with an epoch older than its bucket's. */
import { isRun } from '../ledger.ts';
import { isOfRun, keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import type { Checker } from './checker.ts';

const ofTheHolder: ReadonlySet<string> = new Set(['PROBE', 'CHECKPOINT', 'EVENT']);

export const s1: Checker = ({ ledger, table }, violated) => {
  const check = (writer: string, token: number | undefined, change: Change) => {
    const { key, after } = change;
    const kind = keyKind(key);
    if (kind === 'LAYOUT' || (kind === 'RUN' && !isOfRun(change))) return;
    if (token === undefined) violated(`${writer} wrote ${kind} before it had claimed anything`);
    if (kind === 'RUN' && after?.token !== token)
      violated(`${writer} with ${token} beat in the run of ${after?.token}`);
    if (!ofTheHolder.has(kind)) return;
    const epoch = table.get({ pk: key.pk.replace('E#', 'B#'), sk: 'EPOCH' })?.token;
    if (epoch !== token) violated(`${writer} with ${token} wrote ${kind} ${key.sk} in the epoch of ${epoch}`);
  };
  return {
    applied({ writer, changes }) {
      if (!isRun(writer)) return;
      const token = ledger.tokenOf(writer);
      for (const change of changes) check(writer, token, change);
    },
  };
};
