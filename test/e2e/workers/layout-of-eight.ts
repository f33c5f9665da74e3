/** A layout of eight shards that a test writes in the schedule's place, and the messages that it sends. */
import type { LayoutShard } from '../../../shared/core/shards/layout.ts';
import { bucketCount } from '../../../shared/core/shards/slots.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import type { QueueSender, ShardMessage } from '../../../shared/queue/queue.ts';
import { sqsQueue } from '../../../shared/queue/sqs.ts';
import { encodeLayout, updateTo } from '../../../shared/store/records/items.ts';
import { bucketName } from '../../../shared/store/records/keys.ts';
import type { Store } from '../../../shared/store/store.ts';
import { ministackSqs } from '../../support/ministack.ts';
import type { Services } from './pair.ts';

export const shardCount = 8;
export const bucketsPerShard = bucketCount / shardCount;

export const shardNames: readonly string[] = Array.from({ length: shardCount }, (_, at) =>
  bucketName(at * bucketsPerShard),
);

export type EightShards = {
  /** A new generation of this shard. */
  move(shard: string): Promise<void>;
  /** Asks the runs of every other release to hand over. */
  release(name: string): Promise<void>;
  send(shard: string, slot: Pick<ShardMessage, 'slot' | 'slotEndMs'>): Promise<void>;
  close(): void;
};

export type EightShardsOptions = { readonly store: Store; readonly queueUrl: string; readonly services: Services };

export async function eightShards({ store, queueUrl, services }: EightShardsOptions): Promise<EightShards> {
  const client = ministackSqs(services.sqs.endpoint);
  const queue: QueueSender = sqsQueue({ client, queueUrl, clock: systemClock, random: systemRandom });
  const shards = new Map(shardNames.map((shard, at) => [shard, newShard(shard, at)]));
  let version = 1;
  let desiredRelease = '';
  const layout = () =>
    encodeLayout({ version, announced: version, shards: [...shards.values()], desiredRelease, token: 0 });
  await store.write([{ kind: 'put', item: layout() }], { token: systemRandom.uuid() });
  let writing: Promise<unknown> = Promise.resolve();

  return {
    async move(shard) {
      version += 1;
      shards.set(shard, { ...shardOf(shard), generation: version, sinceMs: Date.now() });
      await rewrite();
    },
    async release(name) {
      desiredRelease = name;
      await rewrite();
    },
    async send(shard, { slot, slotEndMs }) {
      const { generation, from, to } = shardOf(shard);
      const message = { kind: 'slot', shard, generation, buckets: { from, to }, slot, slotEndMs, sentAtMs: Date.now() };
      const deduplicationId = `${shard}/${generation}/${slot}`;
      await queue.send(message as ShardMessage, { group: shard, deduplicationId });
    },
    close: () => client.destroy(),
  };

  /** One write after the other. The token is the runs' own. */
  async function rewrite(): Promise<void> {
    const { token: _, ...set } = updateTo(layout()).set ?? {};
    const write = () =>
      store.write([{ kind: 'update', key: updateTo(layout()).key, set }], { token: systemRandom.uuid() });
    writing = writing.then(write);
    await writing;
  }

  function shardOf(shard: string): LayoutShard {
    const found = shards.get(shard);
    if (!found) throw new Error(`no shard ${shard}`);
    return found;
  }
}

function newShard(shard: string, at: number): LayoutShard {
  const from = at * bucketsPerShard;
  return { shard, from, to: from + bucketsPerShard, generation: 1, mode: 'resident', sinceMs: Date.now() };
}
