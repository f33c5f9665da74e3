/** Items that the API failed to decode, such as an EVENT, which no holder reads. */
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Poison } from '../../../shared/store/records/items.ts';

export const poisonMax = 100;
/** An item not seen for this long may have been repaired or removed; a holder rereads everything within this time. */
export const metLatelyMs = 600_000;

export type PoisonList = {
  add(poison: Poison): void;
  /** Returns the recently seen items and those that the holder has quarantined, without duplicates. */
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
