/**
 * From the bus to status-sync as deployed (cdk/status-sync.ts): a rule, a queue with a dead-letter queue, and an event
 * source mapping. Messages that the function reports as failed, and the batch of a container that died, are delivered
 * again when their visibility ends.
 */
import type { StatusSyncAnswer } from '../../functions/status-sync/status-sync.ts';
import { envelopeOf } from '../../shared/bus/bus.ts';
import type { BusEvent } from '../../shared/bus/events.ts';
import type { Chance } from './chance.ts';
import type { Scheduler } from './clock.ts';
import type { SimFunction } from './function.ts';

/** As deployed. */
const visibilityMs = 180_000;
const receivesMax = 5;
const batchSize = 10;
const concurrencyMax = 5;

type Message = { readonly messageId: string; readonly body: string; receives: number };

export type StatusSyncQueue = { deliver(event: BusEvent): void };

export type StatusSyncQueueOptions = {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly statusSync: SimFunction<StatusSyncAnswer>;
};

export function statusSyncQueue({ scheduler, chance, statusSync }: StatusSyncQueueOptions): StatusSyncQueue {
  let visible: Message[] = [];
  let sent = 0;
  let invoked = 0;
  let looking = false;

  /** A poll takes all messages that have come meanwhile: batches fill while all containers are busy. */
  const look = (inMs = chance.between(5, 50)) => {
    if (looking) return;
    looking = true;
    const poll = () => {
      looking = false;
      while (visible.length > 0 && invoked < concurrencyMax && statusSync.hasFree()) void handOver();
      if (visible.length > 0 && invoked < concurrencyMax) look(500);
    };
    scheduler.after(inMs, { label: 'mapping polls', deliver: poll });
  };

  /** A message that was received too often is a dead letter. */
  const arrive = (message: Message) => {
    if (message.receives >= receivesMax) return;
    visible.push(message);
    look();
  };

  async function handOver(): Promise<void> {
    const batch = visible.slice(0, batchSize);
    visible = visible.slice(batchSize);
    invoked += 1;
    for (const message of batch) message.receives += 1;
    const open = new Map(batch.map((message) => [message.messageId, message]));
    for (const message of batch)
      scheduler.after(visibilityMs, {
        label: 'hint visible again',
        deliver: () => {
          if (open.has(message.messageId)) arrive(message);
        },
      });
    const Records = batch.map(({ messageId, body, receives }) => ({
      messageId,
      body,
      attributes: { ApproximateReceiveCount: String(receives) },
    }));
    const answer = await statusSync.invoke({ Records });
    invoked -= 1;
    const failed = new Set(answer?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    if (answer) for (const { messageId } of batch) if (!failed.has(messageId)) open.delete(messageId);
    look();
  }

  return {
    deliver(event) {
      if (event.detailType !== 'Probe Result Changed' && event.detailType !== 'Target Sync Requested') return;
      sent += 1;
      const body = JSON.stringify(envelopeOf(event));
      arrive({ messageId: `hint-${sent}`, body, receives: 0 });
    },
  };
}
