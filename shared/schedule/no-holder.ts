/**
 * Publishes the events for shards without a holder: `Prober Degraded` each minute while the absence lasts, then
 * `Prober Recovered` once. The published state is stored, because the next minute's schedule is another process. If two
 * schedules run at the same time, only one publishes a recovery.
 */

import type { Bus } from '../bus/bus.ts';
import type { BusEvent } from '../bus/events.ts';
import type { BucketRange } from '../core/shards/layout.ts';
import { tickSlotMs } from '../core/shards/slots.ts';
import { decodeNoHolder, encodeNoHolder, updateTo } from '../store/records/items.ts';
import { bucketName, noHolderKey } from '../store/records/keys.ts';
import type { NoHolder } from '../store/records/shard-records.ts';
import type { Condition, Item } from '../store/store.ts';
import { type WritePorts, writeSurely } from '../table/write.ts';
import { type ScheduledShard, silentMs } from './messages.ts';

/** Leaves time for a rescue: an absence that a rescue ends within half a minute is not published. */
const noHolderAfterMs = { resident: 60_000, tick: 4 * tickSlotMs } as const;

/** The schedule that marked a recovery publishes it well within this time, or has died. */
const publisherDeadAfterMs = 30_000;

const writeAttemptsMax = 3;

type PublishPorts = WritePorts & { readonly bus: Bus };

type Ranges = { readonly [shard: string]: NoHolder };

type Entry = readonly [shard: string, range: NoHolder];

type StoredRanges = { readonly ranges: Ranges; readonly item?: Item };

/**
 * Publishes only what is stored, because the next schedule withdraws only what it finds there. If other schedules keep
 * changing it first, nothing is published until the next minute.
 *
 * @throws StoreUnavailable; the next minute's schedule tries again.
 */
export async function publishNoHolder(
  ports: PublishPorts,
  shards: readonly ScheduledShard[],
  nowMs: number,
): Promise<void> {
  for (let attempt = 1; attempt <= writeAttemptsMax; attempt += 1) {
    const stored = await readRanges(ports);
    const next = nextRanges(stored.ranges, shards, nowMs);
    if (isSame(stored.ranges, next) || (await writeRanges(ports, stored, next)))
      return publishRanges(ports, stored.ranges, next, nowMs);
  }
}

async function publishRanges(ports: PublishPorts, before: Ranges, next: Ranges, nowMs: number): Promise<void> {
  const open = Object.entries(next).filter(([, { recoveredAtMs }]) => recoveredAtMs === undefined);
  const toPublish = Object.entries(next).filter(([shard, range]) => isToPublish(before[shard], range, nowMs));
  const events = [...open.map((entry) => degraded(entry, nowMs)), ...toPublish.map((entry) => recovered(entry, nowMs))];
  if (events.length === 0) return;
  const { failed } = await ports.bus.publish(events);
  const published = toPublish.filter((_, index) => !failed.includes(open.length + index));
  if (published.length > 0) await forget(ports, published);
}

/** Whether the shard has had no beat for too long. */
export const isUnheld = (scheduled: ScheduledShard, nowMs: number): boolean =>
  scheduled.shard.mode !== 'idle' && silentMs(scheduled, nowMs) > noHolderAfterMs[scheduled.shard.mode];

/**
 * Whether the shard has had a recent beat or needs no holder. A shard of a new layout is at first neither held nor
 * unheld.
 */
const isHeld = ({ shard, run }: ScheduledShard, nowMs: number): boolean =>
  shard.mode === 'idle' || (run !== undefined && nowMs - run.beatAtMs <= noHolderAfterMs[shard.mode]);

/** A range is held again when all shards that now have a part of it are held. */
function nextRanges(ranges: Ranges, shards: readonly ScheduledShard[], nowMs: number): Ranges {
  const kept = Object.entries(ranges).map(([name, range]): Entry => {
    const isBack = shards.every((each) => !overlap(each.shard, range) || isHeld(each, nowMs));
    return [name, isBack && range.recoveredAtMs === undefined ? { ...range, recoveredAtMs: nowMs } : range];
  });
  const unheld = shards.filter((each) => isUnheld(each, nowMs));
  return {
    ...Object.fromEntries(kept),
    ...Object.fromEntries(unheld.map((each) => [each.shard.shard, begun(ranges, each, nowMs)])),
  };
}

/** Returns the range if it is already published, otherwise one that is published from now on. */
function begun(ranges: Ranges, each: ScheduledShard, nowMs: number): NoHolder {
  const { shard, from, to } = each.shard;
  const known = ranges[shard];
  if (known === undefined || known.recoveredAtMs !== undefined)
    return { from, to, sinceMs: nowMs - silentMs(each, nowMs) };
  return to <= known.to ? known : { ...known, to };
}

const overlap = (one: BucketRange, other: BucketRange): boolean => one.from < other.to && other.from < one.to;

/** The recovery mark is new, or the schedule that set it died before publishing it. */
const isToPublish = (before: NoHolder | undefined, { recoveredAtMs }: NoHolder, nowMs: number): boolean =>
  recoveredAtMs !== undefined &&
  (before?.recoveredAtMs === undefined || nowMs - before.recoveredAtMs >= publisherDeadAfterMs);

const isSame = (before: Ranges, after: Ranges): boolean =>
  Object.keys(before).length === Object.keys(after).length &&
  Object.entries(after).every(([shard, { to, sinceMs, recoveredAtMs }]) => {
    const old = before[shard];
    return old?.to === to && old.sinceMs === sinceMs && old.recoveredAtMs === recoveredAtMs;
  });

/** An unreadable item is written again from scratch; at worst an event is published twice. */
async function readRanges({ store }: PublishPorts): Promise<StoredRanges> {
  const item = await store.get(noHolderKey);
  const decoded = item && decodeNoHolder(item);
  return { ranges: decoded?.kind === 'ok' ? decoded.record.ranges : {}, ...(item && { item }) };
}

/** Writes by compare-and-set. Returns false if another schedule was faster. */
async function writeRanges(ports: PublishPorts, { item }: StoredRanges, ranges: Ranges): Promise<boolean> {
  const version = typeof item?.version === 'number' ? item.version : undefined;
  const encoded = encodeNoHolder({ version: (version ?? 0) + 1, ranges });
  return (await writeSurely(ports, [{ ...updateTo(encoded), if: [versionIs(version)] }])).kind === 'written';
}

const versionIs = (version: number | undefined): Condition =>
  version === undefined
    ? { kind: 'absent', attribute: 'version' }
    : { kind: 'equals', attribute: 'version', value: version };

async function forget(ports: PublishPorts, published: readonly Entry[]): Promise<void> {
  for (let attempt = 1; attempt <= writeAttemptsMax; attempt += 1) {
    const stored = await readRanges(ports);
    const isPublished = ([shard, range]: Entry) =>
      published.some(([name, { recoveredAtMs }]) => name === shard && recoveredAtMs === range.recoveredAtMs);
    const rest = Object.entries(stored.ranges).filter((entry) => !isPublished(entry));
    if (rest.length === Object.keys(stored.ranges).length) return;
    if (await writeRanges(ports, stored, Object.fromEntries(rest))) return;
  }
}

/** The id is the same each minute: it is one absence, however often it is published. */
const degraded = ([shard, range]: Entry, nowMs: number): BusEvent => ({
  detailType: 'Prober Degraded',
  timeMs: nowMs,
  detail: {
    ...detailOf(shard, range, 'no-holder'),
    reason: 'NoHolder',
    since: new Date(range.sinceMs).toISOString(),
  },
});

const recovered = ([shard, range]: Entry, nowMs: number): BusEvent => ({
  detailType: 'Prober Recovered',
  timeMs: nowMs,
  detail: {
    ...detailOf(shard, range, 'held-again'),
    since: new Date(range.recoveredAtMs ?? nowMs).toISOString(),
  },
});

const detailOf = (shard: string, { from, to, sinceMs }: NoHolder, what: string) => ({
  schemaVersion: 1 as const,
  id: `shard-${shard}#${what}#${sinceMs}`,
  shard,
  hashRange: `${bucketName(from)}-${bucketName(to - 1)}`,
});
