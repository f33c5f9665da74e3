/**
 * Each protection of the product, taken away: the replacement of the one function that is the protection, in whichever
 * file it is. Only types are imported from the product, because its modules have to be loaded after the hook.
 */

import type { WorkerState } from '../../../shared/core/kubelet/worker.ts';
import type { Signs } from '../../../shared/core/self/health.ts';
import type { ProbeRecord, StatusRecord } from '../../../shared/core/spec/records.ts';
import type { ProbeName } from '../../../shared/core/spec/spec.ts';
import type { HeldTarget } from '../../../shared/holder/probing/worker.ts';
import type { Run } from '../../../shared/holder/run.ts';
import type { Condition, Operation, Store } from '../../../shared/store/store.ts';
import { decisionRemovals } from './decision-removals.ts';
import { type AnyOf, always, inProduct, type Replacement } from './replacement.ts';

/** What holds as long as there is anything. */
const isThere: readonly Condition[] = [{ kind: 'exists' }];

type Planned = { readonly operations: readonly Operation[]; readonly owners: readonly unknown[] };
type Plans = (run: Run, commits: never) => Planned;
type Claim = Pick<Extract<Operation, { kind: 'update' }>, 'key' | 'set'>;
type Compares<Record> = (before: Record, after: Record) => boolean;
type IsAcked = (status: StatusRecord, name: ProbeName, version: number) => boolean;
type Write = { readonly record: StatusRecord; readonly publish: readonly unknown[] };
type FaultOn = (reach: never, canaries: readonly { readonly reach: string }[]) => unknown;
type WriteStatus = (ports: never, state: never, plan: Write) => Promise<string>;

type FencedPorts = (ports: Run['ports'], longestPauseMs?: number) => { readonly store: Store };

export const removals = {
  /** Commits and checkpoints are made even if another process has claimed the bucket meanwhile. */
  'no fence': inProduct('epochCheck', (original: AnyOf<Operation>, removed) => (...args) => {
    removed();
    return { ...original(...args), if: isThere };
  }),
  /** A new holder fences an item only when it writes it. */
  'per-item epoch': inProduct('planCommits', (original: Plans, removed) => (run, commits) => {
    removed();
    const plan = original(run, commits);
    const perItem = plan.operations.map((operation, index) =>
      plan.owners[index] === 'epoch' ? withConditions(operation, isThere) : withItemEpoch(operation, run.token),
    );
    return { ...plan, operations: perItem };
  }),
  /** What is missing to the own token is added to the one that was read. */
  'claims that add': inProduct('claimItems', (_, removed) => async (run: Run, claims: readonly Claim[]) => {
    removed();
    const { store, random } = run.ports;
    const added: Operation[] = [];
    for (const { key, set = {} } of claims) {
      const before = Number((await store.get(key))?.token ?? 0);
      if (before > run.token) return false;
      const { token: _token, ...rest } = set;
      added.push({ kind: 'update', key, set: rest, add: { token: run.token - before } });
    }
    return (await store.write(added, { token: random.uuid() })).kind === 'written';
  }),
  /** A late claim takes the shard back from a newer holder. */
  'claims without a condition': inProduct('lowerToken', always([])),
  'unfenced beat': inProduct('beatConditions', always(isThere)),
  /** A run that has not beaten for long continues until another process stops it. */
  'no self-fence': inProduct('startRun', (original: AnyOf<Run>, removed) => (...args) => {
    const started = original(...args);
    const inForce = () => {
      removed();
      return !started.ended();
    };
    return { ...started, inForce };
  }),
  'stale message accepted': inProduct('reasonToDrop', always(undefined)),
  'doneSlot ignored': inProduct('doneSlotOf', always(-1)),
  'no CAS': inProduct('unchangedSince', always(isThere)),
  /** A commit whose answer was lost is taken as made. */
  'no read-back': inProduct(
    'writeFenced',
    (original: (run: Run, ...rest: never[]) => unknown, removed) =>
      (run, ...rest) => {
        const { store, fencedStore = store } = run.ports;
        const write: Store['write'] = async (...args) => {
          const outcome = await fencedStore.write(...args);
          if (outcome.kind !== 'inDoubt') return outcome;
          removed();
          return { kind: 'written' };
        };
        return original({ ...run, ports: { ...run.ports, fencedStore: { ...fencedStore, write } } }, ...rest);
      },
  ),
  /** A canary that answers speaks for every route. */
  'no canary of a route': inProduct('faultOn', (original: FaultOn, removed) => (reach, canaries) => {
    removed();
    const isBeyond = (way: string) => way === 'private' || way === 'public';
    return original(
      reach,
      canaries.map((one) => ({ ...one, reach: isBeyond(one.reach) ? 'network' : one.reach })),
    );
  }),
  /** What another process sees of the failing targets does not count. */
  'no second look': inProduct('contradicts', always(false)),
  /** A look asks targets that no worker would probe now. */
  'looks whatever the gate says': inProduct('wouldProbe', always(true)),
  /** A commit that is throttled ends its run, as one whose answer was lost. */
  'a throttle taken for doubt': inProduct(
    'writeFenced',
    (original: (run: Run, ...rest: never[]) => Promise<unknown>, removed) =>
      async (run, ...rest) => {
        const outcome = await original(run, ...rest);
        if (outcome !== 'throttled') return outcome;
        removed();
        run.end({ kind: 'doubt', reason: 'throttled' });
        return undefined;
      },
  ),
  /** What is throttled is asked again at once. */
  'no pause after a throttle': inProduct('throttledPauseMs', always(0)),
  /** A holder asks for as much as before. */
  'no slower rate after a throttle': inProduct('slowed', (_, removed) => (perSecond: number) => {
    removed();
    return perSecond;
  }),
  /** A beat waits for its turn, as everything else on a table without capacity. */
  'beats behind commits': inProduct('fencedPorts', (original: FencedPorts, removed) => (ports, longestPauseMs) => {
    const own = original(ports, longestPauseMs);
    if (longestPauseMs === undefined) return own;
    removed();
    return { ...own, store: { ...own.store, write: rarely(ports) } };
  }),
  /** Every shard follows a new release at once. */
  'no trial of a release': inProduct('trialIn', always(undefined)),
  'no checkpoint': inProduct('writeCheckpoints', always(undefined)),
  'thresholds reset at hand-over': inProduct('storedWorker', (original: AnyOf<WorkerState>, removed) => (...args) => {
    removed();
    return { ...original(...args), lastResult: undefined, resultRun: 0 };
  }),
  'streak break not persisted': inProduct(
    'mustCommit',
    (original: Compares<ProbeRecord>, removed) => (before, after) => {
      if (before.streak !== after.streak) removed();
      return original(before, { ...after, streak: before.streak });
    },
  ),
  /** Of two that have read the same status both write theirs. */
  'no version order (status)': inProduct('statusUpdate', (original: AnyOf<Operation>, removed) => (...args) => {
    removed();
    const operation = original(...args);
    return withConditions(
      operation,
      (operation.if ?? []).filter((one) => !names(one, 'version')),
    );
  }),
  /** Any ack is one of whatever was committed. */
  'no version order (acks)': inProduct('isAcked', (original: IsAcked, removed) => (status, name, version) => {
    removed();
    return original(status, name, version) || status.acked[name] !== undefined;
  }),
  'upsert instead of conditional update': inProduct('unchangedSince', always([])),
  /** PutEvents answers 200 also when it has not taken an entry. */
  'FailedEntryCount ignored': inProduct(
    'publishOutbox',
    (original: AnyOf<Promise<string>>, removed) =>
      async (...args) => {
        if ((await original(...args)) !== 'published') removed();
        return 'published';
      },
  ),
  /** Before its outcome is known. */
  'outbox cleared on PutEvents': inProduct('publishOutbox', (original: AnyOf<unknown>, removed) => async (...args) => {
    removed();
    void original(...args);
    return 'published';
  }),
  /** The status is written as if nothing were to be published, and what there is to publish is tried once. */
  'no outbox': inProduct('writeStatus', (original: WriteStatus, removed) => async (ports, state, plan) => {
    const written = await original(ports, state, { ...plan, record: { ...plan.record, outbox: [] } });
    if (plan.publish.length > 0) removed();
    return written === 'raced' ? written : 'written';
  }),
  /** What was committed is published once. */
  'no reconcile': inProduct(
    'publishAgain',
    (_, removed) =>
      async (_run: Run, { unacked }: HeldTarget, nowMs: number) => {
        removed();
        for (const [name, one] of [...unacked]) unacked.set(name, { ...one, publishedAtMs: nowMs });
      },
  ),
  /** A run does not publish what an earlier run committed and could not publish. */
  'changes of a predecessor not published': inProduct('unackedOf', (_, removed) => () => {
    removed();
    return new Map();
  }),
  'no canary': inProduct('findingOf', (original: (signs: Signs) => unknown, removed) => (signs) => {
    removed();
    return original({ ...signs, canaries: [] });
  }),
  'no stall detector': inProduct('stallWatch', (_, removed) => () => ({
    watch: () => () => undefined,
    stalledSince() {
      removed();
      return false;
    },
    stoodStillSince: () => false,
    recent: () => 0,
  })),
  ...decisionRemovals,
} as const satisfies { readonly [protection: string]: Replacement };

export type Protection = keyof typeof removals;

const withConditions = (operation: Operation, conditions: readonly Condition[]): Operation => ({
  ...operation,
  if: conditions,
});

/** The epoch of an item is the highest token that has written it. */
function withItemEpoch(operation: Operation, token: number): Operation {
  if (operation.kind !== 'update') return operation;
  const notHigher: Condition = {
    kind: 'anyOf',
    conditions: [
      { kind: 'absent', attribute: 'epoch' },
      { kind: 'lessThan', attribute: 'epoch', value: token + 1 },
    ],
  };
  return { ...operation, set: { ...operation.set, epoch: token }, if: [...(operation.if ?? []), notHigher] };
}

const names = (condition: Condition, attribute: string): boolean =>
  'attribute' in condition && condition.attribute === attribute;

const turnMs = 3_000;

/** Writes that are repeated only that often while they are throttled. */
function rarely({ store, fencedStore = store, clock }: Run['ports']): Store['write'] {
  return async (...args) => {
    for (;;)
      try {
        return await fencedStore.write(...args);
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'StoreThrottled') throw error;
        await new Promise<void>((resolve) => clock.setTimer(turnMs, resolve));
      }
  };
}
