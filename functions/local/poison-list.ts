/** Items that the API met and could not read, an EVENT for one, which no holder reads. */
import type { Clock } from '../../shared/lib/clock.ts';
import type { Poison } from '../../shared/manager/read-target.ts';

export const poisonMax = 100;
/** An item that was not met again for as long as a holder takes to read everything anew may have been mended or removed. */
export const metLatelyMs = 600_000;

export type PoisonList = {
  add(poison: Poison): void;
  /** What was met lately and what the holder has quarantined, each item once. */
  with(held: readonly Poison[]): readonly Poison[];
};

export function poisonList(clock: Clock): PoisonList {
  const met = new Map<string, { readonly poison: Poison; readonly atMs: number }>();
  const keyOf = ({ key }: Poison): string => `${key.pk} ${key.sk}`;
  const forgetOld = () => {
    for (const [key, { atMs }] of met) if (clock.monotonicMs() - atMs > metLatelyMs) met.delete(key);
  };
  return {
    add(poison) {
      forgetOld();
      if (met.size < poisonMax || met.has(keyOf(poison))) met.set(keyOf(poison), { poison, atMs: clock.monotonicMs() });
    },
    with(held) {
      forgetOld();
      const all = [...[...met.values()].map(({ poison }) => poison), ...held];
      return [...new Map(all.map((poison) => [keyOf(poison), poison])).values()];
    },
  };
}
