/** S9: at any time at most one run can commit in a bucket: tokens only grow, and each is one run's. */
import { isRun } from '../ledger.ts';
import { keyKind } from '../store.ts';
import type { Checker } from './checker.ts';

export const s9: Checker = (_, violated) => {
  const owners = new Map<number, string>();
  return {
    applied({ writer, changes }) {
      for (const { key, before, after } of changes) {
        const kind = keyKind(key);
        if (kind !== 'EPOCH' && kind !== 'RUN' && kind !== 'LAYOUT') continue;
        const [old, token] = [Number(before?.token ?? 0), Number(after?.token ?? -1)];
        if (token < old) violated(`${writer} took the token of ${kind} ${key.pk} from ${old} back to ${token}`);
        if (kind === 'LAYOUT' || !isRun(writer)) continue;
        const owner = owners.get(token) ?? writer;
        owners.set(token, owner);
        if (owner !== writer) violated(`${writer} claimed ${kind} ${key.pk} with token ${token} of ${owner}`);
      }
    },
  };
};
