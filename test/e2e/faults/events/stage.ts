/** The product of `npm start` in this process, between a bus that loses events and the servers of its targets. */
import { startRuntime } from '../../../../functions/local/runtime.ts';
import type { Subscriber } from '../../../../shared/bus/in-process.ts';
import { systemClock } from '../../../../shared/lib/clock.ts';
import { systemRandom } from '../../../../shared/lib/random.ts';
import type { Store } from '../../../../shared/store/store.ts';
import { askApi } from '../../../support/api-client.ts';
import { answerOf, forkBeside } from '../../../support/children.ts';
import { recordingLog } from '../../../support/recording-log.ts';
import type { Api } from '../../api.ts';
import type { Answered, Told } from '../answering.ts';
import { type LossyBus, lossyBus } from './lossy-bus.ts';

export type Stage = {
  readonly port: number;
  readonly api: Api;
  readonly bus: LossyBus;
  readonly store: Store;
  /** Sets what the servers answer from now on. */
  tell(told: Told): void;
  subscribe(detailType: string, subscriber: Subscriber): void;
  close(): Promise<void>;
};

export async function openStage(): Promise<Stage> {
  const servers = forkBeside('../answering.ts', import.meta.url);
  const { port } = (await answerOf(servers)) as Answered;
  const bus = lossyBus();
  const stores: Store[] = [];
  const wrapStore = (store: Store) => {
    stores.push(store);
    return store;
  };
  const ports = { clock: systemClock, random: systemRandom, log: recordingLog(), wrapBus: bus.wrap, wrapStore };
  const runtime = startRuntime({ dataDir: ':memory:' }, ports);
  await runtime.shard.loaded;
  const [store] = stores;
  if (!store) throw new Error('a runtime without a store');
  return {
    port,
    api: (method, path, body) => askApi(runtime, method, path, body),
    bus,
    store,
    tell: (told) => void servers.send(told),
    subscribe: (detailType, subscriber) =>
      void runtime.bus.subscribe({ source: ['probelet'], 'detail-type': [detailType] }, subscriber),
    async close() {
      // Its last events may still make a subscriber send a message to the servers.
      await runtime.stop();
      servers.kill('SIGKILL');
    },
  };
}
