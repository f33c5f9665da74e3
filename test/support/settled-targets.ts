/**
 * Targets that have long been ready, written straight into a store. One is registered and settled by the product
 * itself, under a clock that does not wait; the others are its copies, since registering thousands takes longer than
 * the measurement.
 */
import { randomUUID } from 'node:crypto';
import { bucketCount } from '../../shared/core/shards/slots.ts';
import { changeCounted } from '../../shared/store/records/items.ts';
import { type TargetAddress, targetAddress } from '../../shared/store/records/keys.ts';
import { type Item, type Operation, operationsMax, type Store } from '../../shared/store/store.ts';
import { shardWorld } from './shard-world.ts';

const template = 'template-target';
const namespace = 'default';
/** Writes under way at the same time. */
const writers = 4;

export const nameOf = (at: number): string => `mass-${at}`;

export type SettledOptions = {
  readonly targets: number;
  readonly port: number;
  readonly periodSeconds: number;
  /** Default: `tcpSocket`. */
  readonly handler?: 'tcpSocket' | 'httpGet';
  /** Each target's host is its name; otherwise all have the same. */
  readonly namesHosts?: true;
  /** When the template was registered, ms since the epoch. */
  readonly startMs?: number;
};

export async function writeSettled(store: Store, { targets, ...probe }: SettledOptions): Promise<void> {
  const items = await settledItems(probe);
  const addresses = Array.from({ length: targets }, (_, at) => targetAddress(namespace, nameOf(at)));
  const buckets = new Map(addresses.map((address) => [address.bucket, address]));
  if (buckets.size > bucketCount) throw new Error('more buckets than there are');
  const operations = [
    ...addresses.flatMap((address, at) => copyOf(items, address, nameOf(at))),
    // A bucket is read only if its counter is there.
    ...[...buckets.values()].map((address) => changeCounted(address)),
  ];
  await writeAll(store, operations);
}

async function settledItems(probe: Omit<SettledOptions, 'targets'>): Promise<readonly Item[]> {
  const { port, periodSeconds, handler = 'tcpSocket', namesHosts, startMs } = probe;
  const world = shardWorld({ ...(startMs !== undefined && { startMs }) });
  const readinessProbe = { [handler]: { port }, periodSeconds };
  await world.put(template, { ...(namesHosts && { host: template }), readinessProbe });
  const run = await world.run();
  const isReady = async () =>
    (await world.status(template)).status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  await world.until('the template is ready', isReady);
  await world.clock.advance(30_000);
  await run.stop();
  return world.itemsOf(template);
}

function copyOf(items: readonly Item[], address: TargetAddress, name: string): readonly Operation[] {
  const { prefix } = targetAddress(namespace, template);
  const uid = String(items.find(({ kind }) => kind === 'TARGET')?.uid);
  const copied = JSON.stringify(items).replaceAll(uid, randomUUID()).replaceAll(template, name);
  const sortKeys = items.map(({ sk }) => address.prefix + sk.slice(prefix.length));
  return (JSON.parse(copied) as Item[]).map((item, at) => ({
    kind: 'put',
    item: { ...item, pk: address.pk, sk: sortKeys[at] ?? '' },
  }));
}

async function writeAll(store: Store, operations: readonly Operation[]): Promise<void> {
  let next = 0;
  const writer = async () => {
    for (let at = next; at < operations.length; at = next) {
      next += operationsMax;
      const outcome = await store.write(operations.slice(at, at + operationsMax), { token: randomUUID() });
      if (outcome.kind !== 'written') throw new Error(`targets not written: ${JSON.stringify(outcome)}`);
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
}
