/**
 * Who may commit: a run takes one token from LAYOUT, then sets RUN and the EPOCH of each of its buckets to it wherever a lower one
 * stands. Every later write of the run is conditional on that token, so whatever happens only the highest token can commit.
 */

import type { ShardMessage } from '../queue/queue.ts';
import { doneSlotOf, isAhead, isPassed, notPassed } from '../schedule/slots.ts';
import { encodeEpoch, encodeRun, generationAttribute, type RunRecord, updateTo } from '../store/items.ts';
import { type Bucket, layoutKey, runKey } from '../store/keys.ts';
import { pastOf } from '../store/run-of-epoch.ts';
import type { Condition, Operation } from '../store/store.ts';
import { writeKnown, writeSurely } from '../table/write.ts';
import { type Inherited, inheritedFrom, predecessorsOf, runOf } from './inherited.ts';
import { fencedPorts, type Ports } from './ports.ts';
import type { Run } from './run.ts';

/** Buckets whose EPOCH is set in one transaction. */
const bucketsPerWrite = 25;

/** A fresh token, greater than any before it, and the version of the layout that it was taken from. */
export type Taken = Pick<Run, 'token' | 'layoutVersion'>;

/**
 * undefined: the shard's generation has moved on (or there is no such shard).
 * @throws StoreUnavailable also when nobody knows which token was taken, if any.
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

/** `warm`: nobody has held the shard since this process did, so what it remembers of it is what is stored. */
export type Claimed =
  | { readonly kind: 'warm'; readonly inherited: Inherited; readonly before: RunRecord | undefined }
  | {
      readonly kind: 'cold';
      readonly inherited: Inherited;
      /** RUN as it was, if it was of this generation. */
      readonly before: RunRecord | undefined;
      /** Since then (wall time) nobody may have probed the shard. */
      readonly unheldSinceMs: number;
    }
  | { readonly kind: 'refused' };

/**
 * Sets RUN to the run's token, first where `keptToken`, this process's last, still stands: whoever claims does so here before anywhere
 * else. Refused: a higher token is there, or this slot has been done already, or a later one begun.
 */
export async function claimRun(run: Run, keptToken: number | undefined): Promise<Claimed> {
  const { message, token, ports } = run;
  const fenced = fencedPorts(ports);
  const item = await fenced.store.get(runKey(message.shard));
  const nowMs = ports.clock.nowMs();
  const scheduleMs = nowMs - run.aheadMs;
  const doneSlot = doneSlotOf(item, message, scheduleMs);
  const isDone = message.kind === 'slot' && doneSlot >= message.slot;
  if (isDone || isPassed(item, message, scheduleMs)) return { kind: 'refused' };
  const { generation, slot, mode } = message;
  const last = runOf(item);
  const before = last?.generation === generation ? last : undefined;
  const known = inheritedFrom(before ? [before] : await predecessorsOf(run));
  const inherited = { ...known, observedAtMs: Math.min(known.observedAtMs, nowMs) };
  const begun = { beat: 0, beatAtMs: nowMs, beganAtMs: nowMs, tick: mode === 'tick', ...inherited };
  const first = before ? {} : { sinceToken: token, previous: pastOf(last) };
  const record = { token, generation, slot, doneSlot, ...begun, ...first };
  const keepsDone = before !== undefined && !isAhead(item, message, scheduleMs);
  const claim = claimOf(updateTo(encodeRun(message.shard, record)), keepsDone);
  if (keptToken !== undefined) {
    const same: Condition = { kind: 'equals', attribute: 'token', value: keptToken };
    const outcome = await writeSurely(fenced, [{ ...claim, if: [same] }]);
    if (outcome.kind === 'written') return { kind: 'warm', inherited, before };
  }
  if (!(await claimItems(run, [{ ...claim, if: notPassed(item, message, scheduleMs) }]))) return { kind: 'refused' };
  return { kind: 'cold', inherited, before, unheldSinceMs: unheldSince(inherited, before, nowMs) };
}

/** The run before may end its slot in this moment: what it says of that stays. */
function claimOf({ key, set }: ClaimItem, keepsDone: boolean): ClaimItem & { readonly kind: 'update' } {
  const { doneSlot, ...rest } = set ?? {};
  return { kind: 'update', key, set: keepsDone ? rest : { ...rest, doneSlot } };
}

/** Clocks of two processes differ by that much. */
const clockSkewMs = 2_000;
/** A new generation begins when the schedule says so, and its predecessors end within two beats. */
const handoverMs = 10_000;

/** When whoever held it before had last begun all that was due; in another layout they may have done so each at another time. */
function unheldSince({ observedAtMs }: Inherited, before: RunRecord | undefined, nowMs: number): number {
  return Math.min(observedAtMs, before ? nowMs : nowMs - handoverMs) - clockSkewMs;
}

/** Sets the EPOCH of these buckets to the run's token; false: a higher token is there, the run is fenced. */
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

/** `if`: what has to hold beside. */
export type ClaimItem = Pick<Extract<Operation, { kind: 'update' }>, 'key' | 'set' | 'if'>;

/**
 * All of them in one transaction; false: a higher token is there, or what has to hold beside does not.
 * @throws StoreUnavailable also when nobody knows: the claim may be repeated, but its message must not be acknowledged.
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
  // A claim repeated with one's own token has succeeded before; claim the others again without it.
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
