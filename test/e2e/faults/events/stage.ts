/** The product of `npm start` in this process, between a bus that loses events and the servers of its targets. */
import type { Subscriber } from '../../../../shared/bus/in-process.ts';
import type { Store } from '../../../../shared/store/store.ts';
import { askApi } from '../../../support/api-client.ts';
import { answerOf, forkBeside } from '../../../support/children.ts';
import type { LogLine } from '../../../support/recording-log.ts';
import type { Api } from '../../api.ts';
import type { Answered, Told } from '../answering.ts';
import { startInMemory } from '../in-memory.ts';
import { type LossyBus, lossyBus } from './lossy-bus.ts';

export type Stage = {
  readonly port: number;
  readonly api: Api;
  readonly bus: LossyBus;
  readonly store: Store;
  /** What the product has logged beyond `info`. */
  warnings(): readonly LogLine[];
  /** Sets what the servers answer from now on. */
  tell(told: Told): void;
  subscribe(detailType: string, subscriber: Subscriber): void;
  close(): Promise<void>;
};

export async function openStage(): Promise<Stage> {
  const servers = forkBeside('../answering.ts', import.meta.url);
  const { port } = (await answerOf(servers)) as Answered;
  const bus = lossyBus();
  const { runtime, store, log } = await startInMemory({ wrapBus: bus.wrap });
  return {
    port,
    api: (method, path, body) => askApi(runtime, method, path, body),
    bus,
    store,
    warnings: () => log.lines.filter(({ level }) => level !== 'info'),
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
