/** A schedule in the simulated world, with a queue in process and a bus that takes only what the test lets it take. */

import type { Bus } from '../../shared/bus/bus.ts';
import type { BusEvent } from '../../shared/bus/events.ts';
import type { Layout, LayoutShard } from '../../shared/core/shards/layout.ts';
import { slotAt } from '../../shared/core/shards/slots.ts';
import type { Probe } from '../../shared/core/spec/spec.ts';
import { reasonToDrop } from '../../shared/holder/receipt.ts';
import { inProcessQueue } from '../../shared/queue/in-process.ts';
import { type QueueSender, QueueUnavailable, type ShardMessage } from '../../shared/queue/queue.ts';
import { runSchedule, type ScheduleOptions } from '../../shared/schedule/schedule.ts';
import { changeCounted, decodeLayout, encodeRun, encodeTarget } from '../../shared/store/records/items.ts';
import { bucketOf, layoutKey, targetAddress, targetHash, targetKey } from '../../shared/store/records/keys.ts';
import type { RunRecord } from '../../shared/store/records/shard-records.ts';
import type { Item, Operation, Query, Store } from '../../shared/store/store.ts';
import { specOf, targetRecordOf, tcpProbe } from '../support/pods.ts';
import { shardWorld } from '../support/shard-world.ts';
import { testsIn } from '../support/tests-in.ts';

export const minuteMs = 60_000;

/** A minute into a slot of shard 00. */
const startMs = slotAt({ from: 0, mode: 'resident' }, Date.UTC(2030, 0, 1)).beginMs + minuteMs;

export type Sent = { readonly message: ShardMessage; readonly group: string; readonly deduplicationId: string };

export function scheduleWorld(options: ScheduleOptions = {}) {
  const queries: Query[] = [];
  const { clock, store, random, log } = shardWorld({ startMs, wrapStore: (inner) => countedStore(inner, queries) });
  const inner = inProcessQueue({ clock, visibilityMs: 15_000, retentionMs: 3_600_000 });
  const sent: Sent[] = [];
  const events: BusEvent[] = [];
  /** What the bus does not take, and what the queue does not. */
  const refused = { events: new Set<string>(), groups: new Set<string>() };
  const queue: QueueSender = {
    async send(message, routing) {
      if (refused.groups.has(routing.group)) throw new QueueUnavailable('told so');
      if (message.kind !== 'look') sent.push({ message, ...routing });
      await inner.send(message, routing);
    },
  };
  const bus: Bus = {
    async publish(batch) {
      const failed = batch.flatMap(({ detailType }, index) => (refused.events.has(detailType) ? [index] : []));
      events.push(...batch.filter((_, index) => !failed.includes(index)));
      return { failed };
    },
  };
  const ports = { store, queue, bus, clock, random, log };
  const put = (item: Item) => write([{ kind: 'put', item }]);
  const write = (operations: readonly Operation[]) => store.write(operations, { token: random.uuid() });

  return {
    ...ports,
    receiver: inner,
    sent,
    events,
    refused,
    queries,
    write,
    tick: (more: ScheduleOptions = {}) => clock.runUntil(runSchedule(ports, { ...options, ...more })),
    ticks: (more: ScheduleOptions = {}) => runSchedule(ports, { ...options, ...more }),
    advance: (ms: number) => clock.advance(ms),
    /** What was sent since the last look. */
    takeSent: () => sent.splice(0),
    takeEvents: () => events.splice(0),
    async layout(): Promise<Layout> {
      const decoded = decodeLayout((await store.get(layoutKey)) ?? { ...layoutKey });
      if (decoded.kind === 'poison') throw new Error(decoded.detail);
      return decoded.record;
    },
    async register(name: string, probe: Partial<Probe> = {}) {
      const at = targetAddress('default', name);
      const spec = specOf({ containers: [{ name: 'app', readinessProbe: { ...tcpProbe, ...probe } }] });
      await write([changeCounted(at)]);
      await put(encodeTarget(at, targetRecordOf({ uid: `uid-${name}`, name, spec })));
      await write([changeCounted(at)]);
    },
    async purge(name: string) {
      const at = targetAddress('default', name);
      await write([{ kind: 'delete', key: targetKey(at) }]);
      await write([changeCounted(at)]);
    },
    /** RUN of the shard, as if a run had just beaten. */
    beat: (shard: LayoutShard, fields: Partial<RunRecord> = {}) =>
      put(encodeRun(shard.shard, runOf(shard, clock.nowMs(), fields))),
    judge: (message: ShardMessage) => clock.runUntil(reasonToDrop(ports, message)),
    /** The same, where the test moves the clock. */
    judgeNow: (message: ShardMessage, received = {}) => reasonToDrop(ports, message, received),
  };
}

export const inScheduleWorld = testsIn(() => scheduleWorld());

export type ScheduleWorld = ReturnType<typeof scheduleWorld>;

const countedStore = (store: Store, queries: Query[]): Store => ({
  ...store,
  query(query) {
    queries.push(query);
    return store.query(query);
  },
});

const runOf = (shard: LayoutShard, nowMs: number, fields: Partial<RunRecord>): RunRecord => {
  const slotted = { from: shard.from, mode: shard.mode === 'tick' ? ('tick' as const) : ('resident' as const) };
  return {
    token: 1,
    generation: shard.generation,
    slot: slotAt(slotted, nowMs).slot,
    doneSlot: -1,
    beat: 1,
    beatAtMs: nowMs,
    observedAtMs: nowMs,
    degraded: false,
    behind: {},
    ...fields,
  };
};

/** A name whose target lies in the bucket. */
export function nameIn(bucket: string): string {
  for (let number = 0; ; number += 1) if (bucketOf(targetHash('default', `t${number}`)) === bucket) return `t${number}`;
}
