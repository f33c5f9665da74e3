/**
 * The schedule: once a minute, perhaps late, twice or not at all. It lays out the shards, sends each its next message, sends again what
 * nobody has begun, sends for help where a beat has stopped, and tells of shards that nobody holds. It keeps nothing in memory, and all
 * it sends may come twice: the queue knows the ids, the receiver the slot, the table the tokens.
 */
import type { Bus } from '../bus/bus.ts';
import { type Capacity, functionCapacity, type LayoutContext, type LayoutShard } from '../core/layout.ts';
import { sleep } from '../lib/clock.ts';
import { type QueueSender, QueueUnavailable } from '../queue/queue.ts';
import { decodeRun, type RunRecord } from '../store/items.ts';
import { runKey } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import { lookAgainMs } from './drop-reason.ts';
import { announceLayout, currentLayout, type LayoutPorts } from './layout.ts';
import { isUnheld, tellNoHolder } from './no-holder.ts';
import { isDoubtful, lookedAgain, messagesFor, type Outgoing, type ScheduledShard } from './shard-messages.ts';

export type SchedulePorts = LayoutPorts & { readonly queue: QueueSender; readonly bus: Bus };

export type ScheduleOptions = {
  /** The release that should run; empty: any. */
  readonly desiredRelease?: string;
  readonly capacity?: Capacity;
  readonly mode?: LayoutContext['mode'];
  /** The queue has forgotten what was sent before, as one in a process that starts: the current slots are sent anyway. */
  readonly repeatCurrent?: boolean;
};

export type ScheduleOutcome = {
  readonly layout: readonly LayoutShard[];
  readonly sent: number;
  /** Not taken by the queue; what matters of it is sent again in a minute. */
  readonly notSent: number;
  readonly noHolder: readonly string[];
};

/** @throws StoreUnavailable when LAYOUT or RUN cannot be read. */
export async function runSchedule(ports: SchedulePorts, options: ScheduleOptions = {}): Promise<ScheduleOutcome> {
  const { desiredRelease = '', capacity = functionCapacity, mode = 'auto', repeatCurrent = false } = options;
  const layout = await currentLayout(ports, { desiredRelease, capacity, mode });
  const scheduled = await scheduledShards(ports, layout.shards);
  const nowMs = Math.floor(ports.clock.nowMs());
  const outgoing = scheduled.flatMap((each) => messagesFor(each, { nowMs, repeatCurrent }));
  const sent = await inChunks(outgoing, (each) => send(ports, each));
  if (sent.every(Boolean)) await announceLayout(ports, layout);
  // Who has just started may have been away for long; that it was nobody's is told once somebody could have begun it.
  if (!repeatCurrent) await tellNoHolder(ports, scheduled, nowMs);
  return {
    layout: layout.shards,
    sent: sent.filter(Boolean).length,
    notSent: sent.filter((isSent) => !isSent).length,
    noHolder: scheduled.filter((each) => isUnheld(each, nowMs)).map(({ shard }) => shard.shard),
  };
}

/** Those whose last beat looks old are looked at again: a holder whose clock is wrong is one all the same. */
async function scheduledShards(
  { store, clock }: SchedulePorts,
  shards: readonly LayoutShard[],
): Promise<readonly ScheduledShard[]> {
  const read = (shard: LayoutShard) => scheduledShard(store, shard);
  const first = await inChunks(shards, read);
  const doubtful = new Set(first.filter((each) => isDoubtful(each, clock.nowMs())));
  if (doubtful.size === 0) return first;
  await sleep(clock, lookAgainMs);
  return inChunks(first, async (each) =>
    doubtful.has(each) ? lookedAgain(each, await read(each.shard), clock.nowMs()) : each,
  );
}

/** A RUN that cannot be read is none: the next claim writes it anew. */
async function scheduledShard(store: Store, shard: LayoutShard): Promise<ScheduledShard> {
  const item = await store.get(runKey(shard.shard));
  const decoded = item && decodeRun(item);
  const run: RunRecord | undefined = decoded?.kind === 'ok' ? decoded.record : undefined;
  return { shard, ...(run && { run }) };
}

async function send({ queue, log }: SchedulePorts, { message, routing }: Outgoing): Promise<boolean> {
  try {
    await queue.send(message, routing);
    if (message.kind === 'rescue') log.warn('rescue sent', { shard: message.shard });
    return true;
  } catch (error) {
    if (!(error instanceof QueueUnavailable)) throw error;
    log.warn('shard message not sent', { shard: message.shard, kind: message.kind, cause: error.message });
    return false;
  }
}

/** Calls at the same time. */
const chunkLength = 16;

async function inChunks<Value, Answer>(
  values: readonly Value[],
  call: (value: Value) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let at = 0; at < values.length; at += chunkLength)
    answers.push(...(await Promise.all(values.slice(at, at + chunkLength).map(call))));
  return answers;
}
