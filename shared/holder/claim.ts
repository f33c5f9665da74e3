/**
 * Decides who may commit. A run takes a token from LAYOUT, then writes it to RUN and to the EPOCH of each of its
 * buckets, wherever a lower token stands. Every later write of the run is conditional on that token, so only the
 * highest token can ever commit. A warm run writes EPOCH only where it writes anything else.
 */

import type { Unheld } from '../core/kubelet/ticker.ts';
import { lastBeat } from '../core/shards/beat.ts';
import type { ShardMessage } from '../queue/queue.ts';
import { doneSlotOf, isAhead, isPassed, notPassed } from '../schedule/slots.ts';
import { encodeEpoch, encodeRun, generationAttribute, updateTo } from '../store/records/items.ts';
import { type Bucket, layoutKey, runKey } from '../store/records/keys.ts';
import { pastOf, type RunRecord } from '../store/records/shard-records.ts';
import type { Condition, Operation } from '../store/store.ts';
import { writeKnown, writeSurely } from '../table/write.ts';
import { type Inherited, inheritedFrom, predecessorsOf, runOf } from './inherited.ts';
import { fencedPorts, type Ports, type Run } from './run.ts';

/** Buckets whose EPOCH is set in one transaction. */
const bucketsPerWrite = 25;

/** A new token, greater than any before it, and the version of the layout that it was taken from. */
export type Taken = Pick<Run, 'token' | 'layoutVersion'>;

/**
 * Returns undefined if the shard has another generation by now or does not exist.
 * @throws StoreUnavailable also if it is unknown whether a token was taken, and which one.
 */
export async function takeToken(ports: Ports, message: ShardMessage): Promise<Taken | undefined> {
  const outcome = await writeKnown(fencedPorts(ports), [
    {
      kind: 'update',
      key: layoutKey,
      add: { token: 1 },
      if: [{ kind: 'equals', attribute: generationAttribute(message.shard), value: message.generation }],
    },
  ]);
  const item = outcome.kind === 'written' ? outcome.item : undefined;
  return typeof item?.token === 'number' ? { token: item.token, layoutVersion: Number(item.version ?? 0) } : undefined;
}

/**
 * `warm`: no other run has held the shard since this process did, so its memory of the shard matches the store. Nor has
 * any other run a token that an EPOCH of the shard still lets commit, so the run need not raise them before it writes.
 */
export type Claimed =
  | { readonly kind: 'warm'; readonly inherited: Inherited; readonly before: RunRecord | undefined }
  | {
      readonly kind: 'cold';
      readonly inherited: Inherited;
      /** RUN before the claim, if it was of this generation. */
      readonly before: RunRecord | undefined;
      /** Since when, by wall time, the shard may have gone unprobed. */
      readonly unheld: Unheld;
    }
  /** `isFinal`: a claim on what RUN is now would be refused too. */
  | { readonly kind: 'refused'; readonly isFinal: boolean };

/** If RUN changes before each of so many claims, the last one does not ask for more than a lower token. */
const claimTriesMax = 5;

/**
 * Sets RUN to the run's token. It first tries this on the condition that RUN still has `keptToken`, this process's last
 * token. Every claim starts with RUN, so if the condition holds, no other run has claimed the shard. A claim overwrites
 * what the previous run has published of itself, so RUN has to be as it was read. Returns `refused` if RUN has a higher
 * token, or if this slot is already done or a later one has begun.
 */
export async function claimRun(run: Run, keptToken: number | undefined): Promise<Claimed> {
  for (let tries = 1; ; tries += 1) {
    const isLast = tries === claimTriesMax;
    const claimed = await claimAsRead(run, keptToken, isLast);
    if (claimed.kind !== 'refused' || claimed.isFinal || isLast) return claimed;
  }
}

async function claimAsRead(run: Run, keptToken: number | undefined, isLast: boolean): Promise<Claimed> {
  const { message, token, ports } = run;
  const fenced = fencedPorts(ports);
  const item = await fenced.store.get(runKey(message.shard));
  const nowMs = ports.clock.nowMs();
  const scheduleMs = nowMs - run.aheadMs;
  const doneSlot = doneSlotOf(item, message, scheduleMs);
  const isDone = message.kind === 'slot' && doneSlot >= message.slot;
  if (isDone || isPassed(item, message, scheduleMs)) return refusedForGood;
  const { generation, slot, mode } = message;
  const last = runOf(item);
  if (last && last.token > token) return refusedForGood;
  const before = last?.generation === generation ? last : undefined;
  const known = inheritedFrom(before ? [before] : await predecessorsOf(run));
  const inherited = { ...known, observedAtMs: Math.min(known.observedAtMs, nowMs) };
  const release = run.release === '' ? {} : { release: run.release };
  const begun = { beat: 0, beatAtMs: nowMs, beganAtMs: nowMs, ...release, tick: mode === 'tick', ...inherited };
  const first = before ? {} : { sinceToken: token, previous: pastOf(last) };
  const record = { token, generation, slot, doneSlot, ...begun, ...first };
  const keepsDone = before !== undefined && !isAhead(item, message, scheduleMs);
  const claim = claimOf(updateTo(encodeRun(message.shard, record)), keepsDone);
  if (keptToken !== undefined) {
    const same: Condition = { kind: 'equals', attribute: 'token', value: keptToken };
    const outcome = await writeSurely(fenced, [{ ...claim, if: [same] }]);
    if (outcome.kind === 'written') return { kind: 'warm', inherited, before };
  }
  const unchanged = isLast ? [] : asItWasRead(last);
  const conditions = [...notPassed(item, message, scheduleMs), ...unchanged];
  if (!(await claimItems(run, [{ ...claim, if: conditions }]))) return { kind: 'refused', isFinal: false };
  const unheld = { sinceMs: unheldSince(inherited, before, nowMs), inOrder: before?.beat === lastBeat };
  return { kind: 'cold', inherited, before, unheld };
}

const refusedForGood = { kind: 'refused', isFinal: true } as const;

/** Condition on RUN: no run has claimed it since, or written a beat. */
const asItWasRead = (run: RunRecord | undefined): readonly Condition[] =>
  run
    ? [
        { kind: 'equals', attribute: 'token', value: run.token },
        { kind: 'equals', attribute: 'beat', value: run.beat },
      ]
    : [];

/** `keepsDone`: leaves `doneSlot` as stored, because the previous run may finish its slot at this moment. */
function claimOf({ key, set }: ClaimItem, keepsDone: boolean): ClaimItem & { readonly kind: 'update' } {
  const { doneSlot, ...rest } = set ?? {};
  return { kind: 'update', key, set: keepsDone ? rest : { ...rest, doneSlot } };
}

/** How much the clocks of two processes may differ. */
const clockSkewMs = 2_000;
/** A new generation begins when the schedule announces it, and its predecessors end within two beats. */
const handoverMs = 10_000;

/**
 * The last time the previous holder had no overdue probe. After a layout change the buckets come from several holders,
 * so subtract the hand-over window.
 */
function unheldSince({ observedAtMs }: Inherited, before: RunRecord | undefined, nowMs: number): number {
  return Math.min(observedAtMs, before ? nowMs : nowMs - handoverMs) - clockSkewMs;
}

/** Sets the EPOCH of these buckets to the run's token. Returns false if one has a higher token: the run is fenced. */
export async function claimBuckets(run: Run, buckets: readonly Bucket[]): Promise<boolean> {
  const claimedAtMs = run.ports.clock.nowMs();
  for (let at = 0; at < buckets.length; at += bucketsPerWrite) {
    const claims = buckets
      .slice(at, at + bucketsPerWrite)
      .map((bucket) => updateTo(encodeEpoch(bucket, { token: run.token, shard: run.message.shard, claimedAtMs })));
    if (!(await claimItems(run, claims))) return false;
  }
  return true;
}

/** `if`: conditions in addition to the one on the token. */
export type ClaimItem = Pick<Extract<Operation, { kind: 'update' }>, 'key' | 'set' | 'if'>;

/**
 * Claims all items in one transaction. Returns false if an item has a higher token or fails its additional conditions.
 * @throws StoreUnavailable also if the outcome is unknown: the claim may be repeated, but its message must not be
 * acknowledged.
 */
export async function claimItems(run: Run, claims: readonly ClaimItem[]): Promise<boolean> {
  const operations = claims.map(
    ({ key, set, if: also = [] }): Operation => ({
      kind: 'update',
      key,
      ...(set && { set }),
      if: [...lowerToken(run.token), ...also],
    }),
  );
  const outcome = await writeKnown(fencedPorts(run.ports), operations);
  if (outcome.kind === 'written') return true;
  // An item that already has this run's token was claimed by an earlier attempt. Claim the others without it.
  const own = new Set(
    outcome.refusals.flatMap((refusal) =>
      refusal.kind === 'condition' && refusal.item?.token === run.token ? [refusal.index] : [],
    ),
  );
  if (own.size === 0 || own.size < outcome.refusals.length) return false;
  const rest = claims.filter((_, index) => !own.has(index));
  return rest.length === 0 || claimItems(run, rest);
}

const lowerToken = (token: number): readonly Condition[] => [
  {
    kind: 'anyOf',
    conditions: [
      { kind: 'absent', attribute: 'token' },
      { kind: 'lessThan', attribute: 'token', value: token },
    ],
  },
];
