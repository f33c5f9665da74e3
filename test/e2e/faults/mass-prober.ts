/** A holder of `mass.ts`: the product's run of a shard on DynamoDB Local, with the clients that a worker has. */
import { localProbing } from '../../../functions/local/process/probing.ts';
import type { Bus } from '../../../shared/bus/bus.ts';
import type { RunEnd } from '../../../shared/holder/run.ts';
import { runShard } from '../../../shared/holder/shard-run.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import type { ShardMessage } from '../../../shared/queue/queue.ts';
import { dynamodbStore } from '../../../shared/store/dynamodb/dynamodb.ts';
import { localClient } from '../../support/dynamodb-local.ts';
import { recordingLog } from '../../support/recording-log.ts';

export type MassOrders = { readonly endpoint: string; readonly tableName: string; readonly message: ShardMessage };

export type MassReport = {
  readonly loaded: boolean;
  /** Targets that were published as failed. */
  readonly published: number;
  readonly ended: RunEnd | undefined;
};

const reportMs = 500;
const [clock, random, log] = [systemClock, systemRandom, recordingLog()];

const failed = new Set<string>();
const bus: Bus = {
  async publish(events) {
    for (const { detailType, detail } of events)
      if (detailType === 'Probe Result Changed' && detail.result === 'failure') failed.add(detail.target.uid);
    return { failed: [] };
  },
};

process.once('message', async ({ endpoint, tableName, message }: MassOrders) => {
  const newStore = () => dynamodbStore({ client: localClient(endpoint), tableName, clock, random });
  const { canaries, forRun } = localProbing({ clock, log });
  let loaded = false;
  let ended: RunEnd | undefined;
  setInterval(() => process.send?.({ loaded, published: failed.size, ended } satisfies MassReport), reportMs);
  ended = await runShard(
    {
      ...{ clock, random, log, bus, canaries, store: newStore(), fencedStore: newStore(), ...forRun() },
      lease: { extend: () => Promise.resolve(true) },
      metrics: { observe: () => undefined, remove: () => undefined },
    },
    message,
    message.slotEndMs,
    {
      onLoaded() {
        loaded = true;
      },
    },
  );
});
process.send?.('ready');
