/**
 * Quotas where many processes register. The usage read from the table is valid for some seconds. Meanwhile other
 * processes may admit more than a limit allows, but no more than they register in that time. This process adds its own
 * admissions itself.
 */
import { excessOf, type Growth, type QuotaLimits, type Quotas, type Usage } from '../core/shards/quota.ts';
import type { Clock } from '../lib/clock.ts';
import { type Bucket, bucketOf } from '../store/records/keys.ts';
import type { Store } from '../store/store.ts';
import { readUsage, type StoredUsage } from './usage.ts';

/** Maximum age of the usage read. Reading it takes up to a megabyte of the table, so not every registration does. */
const usageAgeMaxMs = 10_000;
/** Growths that wait for their bucket's weight. Beyond that number the oldest are dropped. */
const unweighedMax = 20_000;

type LocalGrowth = { readonly growth: Growth; readonly bucket: Bucket; endedAtMs?: number; addedThen?: number };

export function storedQuotas(limits: QuotaLimits, ports: { readonly store: Store; readonly clock: Clock }): Quotas {
  const { clock } = ports;
  const local = localGrowths();
  let known: { readonly usage: Usage; readonly readAtMs: number } | undefined;
  let reading: Promise<Usage> | undefined;

  async function read(): Promise<Usage> {
    const readAtMs = clock.monotonicMs();
    const stored = await readUsage(ports.store);
    local.readBy(readAtMs, stored);
    known = { usage: stored.usage, readAtMs };
    return stored.usage;
  }
  async function usage(): Promise<Usage> {
    if (known && clock.monotonicMs() - known.readAtMs < usageAgeMaxMs) return known.usage;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }
  return {
    async take(prefix, growth) {
      const excess = excessOf(limits, local.with(await usage()), growth);
      if (excess) return { kind: 'exceeded', excess };
      const mine: LocalGrowth = { growth, bucket: bucketOf(prefix) };
      local.add(mine);
      const end = (isStored: boolean) => {
        if (isStored) mine.endedAtMs = clock.monotonicMs();
        else local.withdraw(mine);
      };
      return { kind: 'taken', end };
    },
  };
}

/**
 * Growths that this process has admitted and that the last read does not contain yet. Counters make all counts visible,
 * except those of namespaces, which come with the weights.
 */
function localGrowths() {
  const unread = new Set<LocalGrowth>();
  const unweighed = new Set<LocalGrowth>();
  const sum = { targets: 0, cpu: 0 };
  const namespaces = new Map<string, number>();

  function addToSum({ growth: { targets, cpu } }: LocalGrowth, sign: 1 | -1): void {
    sum.targets += sign * targets;
    sum.cpu = unread.size === 0 ? 0 : sum.cpu + sign * cpu;
  }
  function addToNamespace({ growth: { namespace, targets } }: LocalGrowth, sign: 1 | -1): void {
    const count = (namespaces.get(namespace) ?? 0) + sign * targets;
    if (count === 0) namespaces.delete(namespace);
    else namespaces.set(namespace, count);
  }
  function drop(each: LocalGrowth): void {
    if (unweighed.delete(each)) addToNamespace(each, -1);
  }
  return {
    add(each: LocalGrowth): void {
      unread.add(each);
      addToSum(each, 1);
      addToNamespace(each, 1);
    },
    withdraw(each: LocalGrowth): void {
      unread.delete(each);
      addToSum(each, -1);
      addToNamespace(each, -1);
    },
    with: ({ targets, cpu, targetsOf }: Usage): Usage => ({
      targets: targets + sum.targets,
      cpu: cpu + sum.cpu,
      targetsOf: (namespace) => targetsOf(namespace) + (namespaces.get(namespace) ?? 0),
    }),
    /** `readAtMs`: growths that had ended by then are in the counters that were read. */
    readBy(readAtMs: number, { addedTo }: StoredUsage): void {
      for (const each of unread) {
        if (each.endedAtMs === undefined || each.endedAtMs >= readAtMs) continue;
        unread.delete(each);
        addToSum(each, -1);
        each.addedThen = addedTo(each.bucket).now;
        unweighed.add(each);
      }
      for (const each of unweighed) if (addedTo(each.bucket).weighed >= (each.addedThen ?? 0)) drop(each);
      for (const each of unweighed) {
        if (unweighed.size <= unweighedMax) break;
        drop(each);
      }
    },
  };
}
