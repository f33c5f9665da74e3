/**
 * Quotas of a process with exclusive access to its store. Registrations are counted once at the start and then updated
 * with every write, so the count is exact, and a registration needs no reads.
 */
import {
  excessOf,
  type Growth,
  growthOf,
  type QuotaLimits,
  type Quotas,
  type Usage,
  withGrowths,
} from '../../../shared/core/shards/quota.ts';
import { bucketCount } from '../../../shared/core/shards/slots.ts';
import type { TargetRecord } from '../../../shared/core/spec/records.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { pacer } from '../../../shared/lib/slices.ts';
import { decodeTarget } from '../../../shared/store/records/items.ts';
import { bucketName, bucketPk, isTargetKey, targetPrefix } from '../../../shared/store/records/keys.ts';
import type { ItemChange } from '../../../shared/store/sqlite/sqlite.ts';
import type { Item, Store } from '../../../shared/store/store.ts';

/** The time for counting in one turn of the event loop. */
const countSliceMs = 5;

export type Census = Quotas & {
  /**
   * Call for each write at the moment it becomes durable. With `inDoubt` the write may be durable, so everything is
   * counted again.
   */
  written(changes: readonly ItemChange[] | 'inDoubt'): void;
};

type Count = { targets: number; cpu: number; readonly namespaces: Map<string, number> };

/**
 * `store` must read before it returns, as SQLite does, so that no write falls between reading a bucket and marking it
 * as counted.
 */
export function census(limits: QuotaLimits, ports: { readonly store: Store; readonly clock: Clock }): Census {
  let count = nothingCounted();
  let countedBuckets = new Set<string>();
  let counting: Promise<void> | undefined;
  /** Growth that is about to be written, by the key prefix of its target. */
  const taken = new Map<string, Growth>();

  async function countAll(): Promise<void> {
    const pace = pacer(ports.clock, countSliceMs);
    // Uses the objects current at the start, because a write in doubt may replace them.
    const [own, buckets] = [count, countedBuckets];
    for (let index = 0; index < bucketCount; index += 1) {
      await pace();
      const pk = bucketPk(bucketName(index));
      const reading = ports.store.query({ pk });
      buckets.add(pk);
      for (const item of await reading) add(own, growthOf(undefined, targetOf(item)));
    }
  }
  const counted = (): Promise<void> => {
    counting ??= countAll().catch((error: unknown) => {
      forget();
      throw error;
    });
    return counting;
  };
  function forget(): void {
    count = nothingCounted();
    countedBuckets = new Set();
    counting = undefined;
  }
  return {
    async take(prefix, growth) {
      await counted();
      const excess = excessOf(limits, withGrowths(usageOf(count), [...taken.values()]), growth);
      if (excess) return { kind: 'exceeded', excess };
      taken.set(prefix, growth);
      const end = () => {
        if (taken.get(prefix) === growth) taken.delete(prefix);
      };
      return { kind: 'taken', end };
    },
    written(changes) {
      if (changes === 'inDoubt') return forget();
      for (const { key, before, after } of changes) {
        if (!isTargetKey(key)) continue;
        taken.delete(targetPrefix(key));
        if (countedBuckets.has(key.pk)) add(count, growthOf(targetOf(before()), targetOf(after())));
      }
    },
  };
}

const nothingCounted = (): Count => ({ targets: 0, cpu: 0, namespaces: new Map() });

/** A target that cannot be decoded is not probed and not counted. */
function targetOf(item: Item | undefined): TargetRecord | undefined {
  if (!item || !isTargetKey(item)) return undefined;
  const decoded = decodeTarget(item);
  return decoded.kind === 'ok' ? decoded.record : undefined;
}

function add(count: Count, { namespace, targets, cpu }: Growth): void {
  count.targets += targets;
  count.cpu += cpu;
  const inNamespace = (count.namespaces.get(namespace) ?? 0) + targets;
  if (inNamespace === 0) count.namespaces.delete(namespace);
  else count.namespaces.set(namespace, inNamespace);
}

const usageOf = ({ targets, cpu, namespaces }: Count): Usage => ({
  targets,
  cpu,
  targetsOf: (namespace) => namespaces.get(namespace) ?? 0,
});
