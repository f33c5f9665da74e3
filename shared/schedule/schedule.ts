/**
 * The schedule: once a minute, perhaps late, twice or not at all. For the current layout it sends each shard its next
 * message, repeats the current one until a run has begun it, sends a rescue where beats have stopped, and publishes
 * which shards have no holder. Only then does it weigh the targets and recompute the layout: weighing may take long,
 * and holding the shards must not wait for it. It keeps nothing in memory, and everything that it sends may arrive
 * twice: the queue deduplicates by id, the receiver by slot, the table by token.
 */

import type { Bus } from '../bus/bus.ts';
import { lookAgainMs } from '../core/shards/beat.ts';
import { type Capacity, functionCapacity, type LayoutContext, type LayoutShard } from '../core/shards/layout.ts';
import type { Rollout } from '../core/shards/rollout.ts';
import { sleep } from '../lib/clock.ts';
import { type QueueSender, QueueUnavailable } from '../queue/queue.ts';
import { decodeRun } from '../store/records/items.ts';
import { runKey } from '../store/records/keys.ts';
import type { RunRecord } from '../store/records/shard-records.ts';
import type { Store } from '../store/store.ts';
import { announceLayout, type LayoutPorts, nextLayout, readLayout, type StandingLayout } from './layout.ts';
import {
  isDoubtful,
  lookedAgain,
  type Outgoing,
  rescueMessage,
  type ScheduledShard,
  slotMessages,
} from './messages.ts';
import { isUnheld, publishNoHolder } from './no-holder.ts';

export type SchedulePorts = LayoutPorts & { readonly queue: QueueSender; readonly bus: Bus };

export type ScheduleOptions = {
  /** The release that should run; empty: any release. */
  readonly desiredRelease?: string;
  readonly capacity?: Capacity;
  readonly mode?: LayoutContext['mode'];
  /**
   * The queue has forgotten what was sent before, as after the start of a single process: the current slots are sent
   * anyway.
   */
  readonly repeatCurrent?: boolean;
};

export type ScheduleOutcome = {
  readonly layout: readonly LayoutShard[];
  readonly sent: number;
  /** Messages that the queue has not taken; those that matter are sent again in a minute. */
  readonly notSent: number;
  readonly noHolder: readonly string[];
  /** Shards whose prober is in doubt about itself. */
  readonly degraded: readonly string[];
};

/** @throws StoreUnavailable when LAYOUT or RUN cannot be read. */
export async function runSchedule(ports: SchedulePorts, options: ScheduleOptions = {}): Promise<ScheduleOutcome> {
  const { desiredRelease = '', capacity = functionCapacity, mode = 'auto', repeatCurrent = false } = options;
  const standing = await readLayout(ports);
  const first = await serve(ports, standing, repeatCurrent);
  const runs = new Map(first.judged.map(({ shard, run }) => [shard.shard, run]));
  const runOf = (shard: string) => runs.get(shard);
  await publishRefused(ports, standing, desiredRelease);
  const layout = await nextLayout(ports, standing, { desiredRelease, capacity, mode, runOf });
  const isNew = layout.version !== standing.version;
  const more = isNew ? (await sendSlots(ports, layout, repeatCurrent)).sent : [];
  const sent = [...first.sent, ...more];
  return {
    layout: layout.shards,
    sent: sent.filter(Boolean).length,
    notSent: sent.filter((isSent) => !isSent).length,
    noHolder: first.noHolder,
    degraded: first.degraded,
  };
}

/** Each minute while the refused release is the one that should run: what is lost comes again, with the same id. */
async function publishRefused({ bus, clock }: SchedulePorts, { refused }: Rollout, wanted: string): Promise<void> {
  if (refused === undefined || refused !== wanted) return;
  const detail = { schemaVersion: 1, id: `release-${refused}#refused`, release: refused } as const;
  await bus.publish([{ detailType: 'Prober Release Refused', timeMs: Math.floor(clock.nowMs()), detail }]);
}

/**
 * Everything that keeps the shards of a layout held. Slot messages do not wait for the second look at old beats, which
 * takes seconds: a process that starts after a pause would begin that much later.
 */
async function serve(ports: SchedulePorts, layout: StandingLayout, repeatCurrent: boolean) {
  const { scheduled, sent } = await sendSlots(ports, layout, repeatCurrent);
  const judged = await lookAgain(ports, scheduled);
  const nowMs = Math.floor(ports.clock.nowMs());
  const rescues = await sendAll(
    ports,
    judged.flatMap((each) => rescueMessage(each, nowMs)),
  );
  // A schedule that has just started cannot tell an outage of the shard from its own absence.
  if (!repeatCurrent) await publishNoHolder(ports, judged, nowMs);
  const noHolder = judged.filter((each) => isUnheld(each, nowMs)).map(({ shard }) => shard.shard);
  const doubtful = judged.filter(({ run }) => run?.degraded).map(({ shard }) => shard.shard);
  const degraded = doubtful.filter((shard) => !noHolder.includes(shard));
  return { sent: [...sent, ...rescues], judged, noHolder, degraded };
}

async function sendSlots(ports: SchedulePorts, layout: StandingLayout, repeatCurrent: boolean) {
  const scheduled = await inChunks(layout.shards, (shard) => scheduledShard(ports.store, shard));
  const nowMs = Math.floor(ports.clock.nowMs());
  const sent = await sendAll(
    ports,
    scheduled.flatMap((each) => slotMessages(each, nowMs, repeatCurrent)),
  );
  if (layout.shards.length > 0 && sent.every(Boolean)) await announceLayout(ports, layout);
  return { scheduled, sent };
}

/** Distinguishes a holder with a wrong clock from a dead one by the number of its beat, some seconds later. */
async function lookAgain(
  { store, clock }: SchedulePorts,
  first: readonly ScheduledShard[],
): Promise<readonly ScheduledShard[]> {
  const doubtful = new Set(first.filter((each) => isDoubtful(each, clock.nowMs())));
  if (doubtful.size === 0) return first;
  await sleep(clock, lookAgainMs);
  return inChunks(first, async (each) =>
    doubtful.has(each) ? lookedAgain(each, await scheduledShard(store, each.shard), clock.nowMs()) : each,
  );
}

/** An unreadable RUN counts as absent: the next claim writes it. */
async function scheduledShard(store: Store, shard: LayoutShard): Promise<ScheduledShard> {
  const item = await store.get(runKey(shard.shard));
  const decoded = item && decodeRun(item);
  const run: RunRecord | undefined = decoded?.kind === 'ok' ? decoded.record : undefined;
  return { shard, ...(run && { run }) };
}

const sendAll = (ports: SchedulePorts, outgoing: readonly Outgoing[]): Promise<readonly boolean[]> =>
  inChunks(outgoing, (each) => send(ports, each));

/**
 * A receiver takes the time between `sentAtMs` and the queue's own time for a difference of clocks, so nothing may come
 * between reading the clock and sending.
 */
async function send({ queue, log, clock }: SchedulePorts, { message, routing }: Outgoing): Promise<boolean> {
  try {
    await queue.send({ ...message, sentAtMs: Math.floor(clock.nowMs()) }, routing);
    if (message.kind === 'rescue') log.warn('rescue sent', { shard: message.shard });
    return true;
  } catch (error) {
    if (!(error instanceof QueueUnavailable)) throw error;
    log.warn('shard message not sent', { shard: message.shard, kind: message.kind, cause: error });
    return false;
  }
}

/** Number of simultaneous calls. */
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
