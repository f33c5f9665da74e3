/** The product of `npm start` in this process, with its store in memory; alone, or as the child process of a step. */
import { type Runtime, type RuntimePorts, startRuntime } from '../../../functions/local/process/runtime.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import type { Store } from '../../../shared/store/store.ts';
import { recordingLog } from '../../support/recording-log.ts';

export type InMemory = {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly log: ReturnType<typeof recordingLog>;
};

/** Resolves once it holds its shard. */
export async function startInMemory(more: Partial<RuntimePorts> = {}): Promise<InMemory> {
  const log = recordingLog();
  const stores: Store[] = [];
  const wrapStore = (store: Store) => {
    stores.push(store);
    return store;
  };
  const ports = { clock: systemClock, random: systemRandom, log, wrapStore, ...more };
  const runtime = startRuntime({ dataDir: ':memory:' }, ports);
  await runtime.shard.loaded;
  const [store] = stores;
  if (!store) throw new Error('a runtime without a store');
  return { runtime, store, log };
}

/** In a child: registers what the first message asks for, and answers the second one with a report. */
export function obey<Orders>(register: (orders: Orders) => Promise<void>, report: (orders: Orders) => unknown): void {
  process.once('message', async (orders: Orders) => {
    await register(orders);
    process.send?.('registered');
    process.once('message', async () => process.send?.(await report(orders)));
  });
  process.send?.('ready');
}
