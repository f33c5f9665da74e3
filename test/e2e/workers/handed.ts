/** What the logs of two workers say of the hand-overs between them. */
import { targetHash } from '../../../shared/store/records/keys.ts';
import { namespace, type Role } from './cast.ts';
import { bucketsPerShard, shardNames } from './layout-of-eight.ts';
import type { Held, Pair } from './pair.ts';
import type { Doubted } from './verdicts.ts';

type Handover = { readonly isOther: boolean; readonly tookMs: number | undefined };

export function handoverTo(pair: Pair, held: Held, index: number): Handover {
  const before = pair.holds.slice(0, index).findLast(({ shard }) => shard === held.shard);
  const atMs = handedAt(pair, held, index);
  return { isOther: before?.worker !== held.worker, tookMs: atMs === undefined ? undefined : held.timeMs - atMs };
}

/** When the run before ended; undefined: not in order. */
export function handedAt({ holds, lefts }: Pair, { shard, timeMs }: Held, index: number): number | undefined {
  const before = holds.slice(0, index).findLast((held) => held.shard === shard);
  const left = lefts.findLast((each) => each.shard === shard && each.timeMs <= timeMs);
  return !before || !left || left.kind === 'doubt' || left.timeMs < before.timeMs ? undefined : left.timeMs;
}

const historyMs = 15_000;

/** The log lines about a shard around an instant, in seconds from it, to explain a long gap. */
export function historyOf({ holds, lefts, drops }: Pair, shard: string, atMs: number): string {
  const published = [
    ...holds.map(({ worker, token, ...each }) => ({ ...each, what: `held by ${worker.name} with ${token}` })),
    ...lefts.map(({ worker, kind, ...each }) => ({ ...each, what: `left by ${worker.name}: ${kind}` })),
    ...drops.map(({ reason, ...each }) => ({ ...each, what: `message dropped: ${reason}` })),
  ];
  return published
    .filter((each) => each.shard === shard && Math.abs(each.timeMs - atMs) < historyMs)
    .toSorted((one, other) => one.timeMs - other.timeMs)
    .map(({ timeMs, what }) => `${((timeMs - atMs) / 1_000).toFixed(1)} ${what}`)
    .join(', ');
}

/** Around a doubt: probes that begin in it are void as well. */
const doubtSlackMs = 2_000;

/** A doubt lasts from its log line to the one that ends it; a mere suspicion ends with its run at the latest. */
export function doubtedIn({ selfHealth, lefts }: Pair): Doubted {
  return (name, fromMs, toMs) => {
    const own = selfHealth.filter(({ shard }) => isIn(shard)({ name }));
    return own.some(({ shard, kind, timeMs }, index) => {
      if (kind === 'sound' || timeMs > toMs + doubtSlackMs) return false;
      const left = lefts.find((each) => each.shard === shard && each.timeMs >= timeMs)?.timeMs;
      const ends = [own[index + 1]?.timeMs, kind === 'suspect' ? left : undefined];
      return Math.min(...ends.map((endMs) => endMs ?? Number.POSITIVE_INFINITY)) > fromMs - doubtSlackMs;
    });
  };
}

export const isIn =
  (shard: string) =>
  ({ name }: Pick<Role, 'name'>): boolean =>
    shardNames[Math.floor(bucketIndex(name) / bucketsPerShard)] === shard;

export const bucketIndex = (name: string): number => Number.parseInt(targetHash(namespace, name).slice(0, 2), 16);
