/**
 * Hundreds of hand-overs between two workers that share eight shards. Slots last seconds: a message says when its slot
 * ends, and this file sends the messages instead of a schedule. The product itself is not shortened. Sometimes a worker
 * is replaced, or a shard gets a new generation in the middle of a slot.
 */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type Family, periodMs, type Role } from './cast.ts';
import { doubtedIn, handedAt, handoverTo, historyOf, isIn } from './handed.ts';
import { type EightShards, eightShards, shardCount, shardNames } from './layout-of-eight.ts';
import { between, type CourseOptions, type Pair, startPair } from './pair.ts';
import { registerAll } from './registered.ts';
import {
  allSettled,
  type Begun,
  blocksOf,
  gapAround,
  gapsOf,
  type Harm,
  harmTo,
  type Miscounts,
  miscounted,
  type Probes,
  probesOf,
  type Settled,
} from './verdicts.ts';
import { type Weather, weatherOf } from './weather.ts';

export type HandoversOutcome = {
  /** From one run of a shard to the next, how many of them to the other process, and how the earlier runs ended. */
  readonly handovers: number;
  readonly toOther: number;
  readonly ends: readonly string[];
  /** From the end of a run to the next one's first probe, of the same process and of the other, ascending. */
  readonly takeoversMs: { readonly same: readonly number[]; readonly other: readonly number[] };
  readonly clear: Harm & {
    readonly miscounted: Miscounts;
    /** Blocks of answers that were compared with their flips. */
    readonly blocks: number;
    /** The longest time without an arrival of a probe around each hand-over, ascending. */
    readonly gapsMs: readonly number[];
    /** What happened around the gaps that are too long. */
    readonly longGaps: readonly string[];
    readonly probes: Probes;
    /** Why runs ended in doubt: that is no hand-over, and the next run waits for the queue to redeliver the message. */
    readonly doubts: readonly string[];
  };
  /** Over the whole course, bad weather included; only of targets whose result does not depend on a lost answer. */
  readonly whole: Harm;
  /** Arrivals of probes on hold, and of liveness probes before startup. */
  readonly unasked: number;
  readonly unfenced: readonly string[];
  readonly weather: ReadonlyMap<string, number>;
};

export type HandoversOptions = CourseOptions & { readonly handovers: number };

/** At a hand-over in order. */
export const plannedGapMsMax = periodMs + 5_000;

const families: readonly Family[] = ['healthy', 'edge-ready', 'edge-live', 'counting', 'on-hold', 'starting'];
/** Their results stay the same if an answer is lost. */
const robust: readonly Family[] = ['healthy', 'on-hold', 'starting'];
const slotMs = { min: 1_500, max: 3_000 };
/** One slot in so many is long enough for a beat, at which the run sees the new generation of its shard. */
const movedEach = 12;
const movedMs = 8_000;
/** One message in so many waits behind the running one, as in production, and mostly goes to the same process. */
const aheadEach = 4;
/** Within this time a process that has left polls for messages again. */
const anybodyMs = 150;
/** No run begins with a message later than this. */
const lateMs = 3_000;
const replaceEachMs = 20_000;
/** The others are in bad weather. */
const clearPart = 0.95;
const pollMs = 20;
const stuckMs = 90_000;
const sayEach = 100;

type Room = HandoversOptions & {
  readonly pair: Pair;
  readonly shards: EightShards;
  readonly roles: readonly Role[];
  readonly stop: AbortSignal;
};

export async function handOver(options: HandoversOptions): Promise<HandoversOutcome> {
  const { services, probed, say, handovers } = options;
  const pair = await startPair({ services, name: 'handovers', concurrency: shardCount });
  const stop = new AbortController();
  try {
    const shards = await eightShards({ ...pair, services });
    const roles = await registerAll({ store: pair.store, probed }, { shards: shardCount, families });
    const room: Room = { ...options, pair, shards, roles, stop: stop.signal };
    const sending = Promise.all(shardNames.map((shard) => keepSending(room, shard)));
    const settled = await allSettled({ store: pair.store, roles }, probed);
    const sinceMs = Date.now();
    const first = pair.holds.length;
    say(`hand-overs: ${roles.length} targets in ${shardCount} shards have settled`);
    const replacing = keepReplacing(room);
    await reached(room, first, Math.ceil(handovers * clearPart));
    const clear = await clearSky(room, settled, sinceMs);
    const weather = weatherOf(options.random);
    pair.play(weather);
    await reached(room, first, handovers);
    pair.play(undefined);
    stop.abort();
    await Promise.all([sending, replacing]);
    shards.close();
    return { clear, ...(await inTheEnd(room, { settled, sinceMs, first, weather })) };
  } finally {
    stop.abort();
    await pair.close();
  }
}

/** Sends one message after the other: the next once the run of the last has begun or ended, or it was dropped. */
async function keepSending(room: Room, shard: string): Promise<void> {
  const { pair, shards, random, stop } = room;
  const begun = () => pair.holds.filter((held) => held.shard === shard).length;
  // A hand-over continues with the same message.
  const ended = () => pair.lefts.filter((left) => left.shard === shard && left.kind !== 'handover').length;
  const dropped = () => pair.drops.filter((drop) => drop.shard === shard).length;
  for (let slot = 1; !stop.aborted; slot += 1) {
    const isMoved = slot % movedEach === 0;
    const slotEndMs = Math.round(Date.now() + (isMoved ? movedMs : between(random, slotMs.min, slotMs.max)));
    const [begunBefore, endedBefore, droppedBefore] = [begun(), ended(), dropped()];
    await shards.send(shard, { slot, slotEndMs });
    const isOver = () => stop.aborted || dropped() > droppedBefore || Date.now() > slotEndMs + lateMs;
    while (begun() === begunBefore && !isOver()) await wait(pollMs);
    if (isMoved) await shards.move(shard);
    else if (slot % aheadEach === 0) continue;
    while (ended() === endedBefore && !isOver()) await wait(pollMs);
    await wait(anybodyMs);
  }
}

/** Replaces the workers one after the other, as a deployment does. */
async function keepReplacing({ pair, stop, say }: Room): Promise<void> {
  for (let turn = 0; !stop.aborted; turn += 1) {
    await wait(replaceEachMs, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return;
    const worker = pair.workers[turn % 2 === 0 ? 0 : 1];
    worker.process().signal('SIGTERM');
    assert.equal(await worker.process().ended, 0, worker.process().lastLines().join('\n'));
    await worker.start();
    say(`hand-overs: ${worker.name} was replaced`);
  }
}

async function reached({ pair, say }: Room, first: number, wanted: number): Promise<void> {
  let seen = pair.holds.length;
  let seenAtMs = performance.now();
  let toSay = pair.holds.length - first + sayEach;
  while (pair.holds.length - first < wanted) {
    await wait(50);
    if (pair.holds.length > seen) {
      seen = pair.holds.length;
      seenAtMs = performance.now();
    }
    if (seen - first >= toSay) {
      say(`hand-overs: ${seen - first}`);
      toSay += sayEach;
    }
    const lines = () => pair.workers.flatMap((worker) => worker.process().lastLines()).join('\n');
    if (performance.now() - seenAtMs > stuckMs) throw new Error(`no hand-over for ${stuckMs} ms: ${lines()}`);
  }
}

async function clearSky(room: Room, settled: Settled, sinceMs: number): Promise<HandoversOutcome['clear']> {
  const { pair, roles, probed } = room;
  const due = roles.filter(({ family }) => family !== 'on-hold' && family !== 'starting');
  const gaps = pair.holds.flatMap((held, index) => {
    const { shard } = held;
    const atMs = held.timeMs < sinceMs ? undefined : handedAt(pair, held, index);
    if (atMs === undefined) return [];
    const gapMs = gapAround(due.filter(isIn(shard)), probed, atMs);
    return gapMs === undefined ? [] : [{ shard, atMs, gapMs }];
  });
  const probes = probesOf(due, probed, sinceMs);
  return {
    ...(await harmTo({ store: pair.store, roles }, { settled, sinceMs })),
    miscounted: await miscounted({ store: pair.store, roles }, { probed, doubted: doubtedIn(pair) }),
    blocks: blocksOf(roles, probed),
    gapsMs: ascending(gaps.map(({ gapMs }) => gapMs)),
    longGaps: gaps
      .filter(({ gapMs }) => gapMs > plannedGapMsMax)
      .map(({ shard, atMs, gapMs }) => `${gapMs} ms in ${shard}: ${historyOf(pair, shard, atMs)}`),
    doubts: pair.lefts.flatMap(({ shard, kind, reason, timeMs }) =>
      kind === 'doubt' && timeMs >= sinceMs ? [`${shard}: ${reason}`] : [],
    ),
    probes,
  };
}

type Ended = Begun & { readonly first: number; readonly weather: Weather };

async function inTheEnd(room: Room, { settled, sinceMs, first, weather }: Ended) {
  const { pair, roles, probed } = room;
  const unaskedPaths = roles.flatMap(({ name, family, paths }) =>
    family === 'on-hold' ? paths : family === 'starting' ? [`/${name}/liveness`] : [],
  );
  const handed = pair.holds.flatMap((held, index) => (index < first ? [] : [handoverTo(pair, held, index)]));
  return {
    handovers: handed.length,
    toOther: handed.filter(({ isOther }) => isOther).length,
    takeoversMs: {
      same: ascending(handed.flatMap(({ isOther, tookMs }) => (isOther || tookMs === undefined ? [] : [tookMs]))),
      other: ascending(handed.flatMap(({ isOther, tookMs }) => (isOther && tookMs !== undefined ? [tookMs] : []))),
    },
    ends: pair.lefts.map(({ kind }) => kind),
    whole: await harmTo(
      { store: pair.store, roles: roles.filter(({ family }) => robust.includes(family)) },
      { settled, sinceMs },
    ),
    unasked: unaskedPaths.flatMap((path) => gapsOf(probed.arrivals(path), sinceMs)).length,
    unfenced: pair.fences.violations(),
    weather: weather.counts,
  };
}

const ascending = (values: readonly number[]): readonly number[] => values.toSorted((one, other) => one - other);
