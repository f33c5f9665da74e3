/** The looks of second places, by the run that asked for them: RUN says what they saw. */
import type { RunRecord } from '../../../shared/store/records/shard-records.ts';
import { keyKind } from '../store.ts';
import type { AppliedWrite, Change } from '../table.ts';
import type { Facts } from './checker.ts';

/** `agrees`: what fails for the run that asked fails there, too. */
export type Look = { readonly timeMs: number; readonly agrees: boolean };

export type Looks = {
  applied(write: AppliedWrite): void;
  /** The last one that this run was given. */
  of(prober: string): Look | undefined;
};

export function looksOf({ ledger, nowMs }: Facts): Looks {
  const looks = new Map<number, Look>();
  return {
    applied({ changes }) {
      for (const change of changes) {
        const look = givenIn(change);
        if (look) looks.set(look.token, { timeMs: nowMs(), agrees: look.failed >= look.succeeded });
      }
    },
    of: (prober) => looks.get(ledger.tokenOf(prober) ?? Number.NaN),
  };
}

function givenIn({ key, before, after }: Change): RunRecord['look'] {
  if (keyKind(key) !== 'RUN') return undefined;
  const [old, { look } = {}] = [before, after] as (Partial<RunRecord> | undefined)[];
  return look?.number === old?.look?.number && look?.token === old?.look?.token ? undefined : look;
}
