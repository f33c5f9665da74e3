/**
 * Each protection of the product, taken away: what stands in the place of the one exported function that it is. Types alone are imported
 * of the product: its modules are to be loaded after the hook.
 */
import type * as selfHealth from '../../../shared/core/self-health.ts';
import type * as acks from '../../../shared/manager/acks.ts';
import type * as checkpoint from '../../../shared/manager/checkpoint.ts';
import type * as claimItems from '../../../shared/manager/claim-items.ts';
import type * as commitCondition from '../../../shared/manager/commit-condition.ts';
import type * as commitPlan from '../../../shared/manager/commit-plan.ts';
import type * as doneSlot from '../../../shared/manager/done-slot.ts';
import type * as dropReason from '../../../shared/manager/drop-reason.ts';
import type * as fence from '../../../shared/manager/fence.ts';
import type * as fencedWrite from '../../../shared/manager/fenced-write.ts';
import type * as outbox from '../../../shared/manager/outbox.ts';
import type * as republish from '../../../shared/manager/republish.ts';
import type * as run from '../../../shared/manager/run.ts';
import type * as stall from '../../../shared/manager/stall.ts';
import type * as statusUpdate from '../../../shared/manager/status-update.ts';
import type * as storedWorker from '../../../shared/manager/stored-worker.ts';
import type * as transition from '../../../shared/manager/transition.ts';
import type * as writeStatus from '../../../shared/manager/write-status.ts';
import type { Condition, Operation, Store } from '../../../shared/store/store.ts';
import { decisionRemovals } from './decision-removals.ts';
import { type Replacement, replacementIn } from './replacement.ts';

/** What holds as long as there is anything. */
const isThere: readonly Condition[] = [{ kind: 'exists' }];

export const removals = {
  /** Commits and checkpoints are made whoever has claimed the bucket meanwhile. */
  'no fence': replacementIn<typeof fence>()(
    'shared/manager/fence.ts',
    'epochCheck',
    (original, removed) =>
      (...args) => {
        removed();
        return { ...original(...args), if: isThere };
      },
  ),
  /** A new holder fences an item only when it writes it. */
  'per-item epoch': replacementIn<typeof commitPlan>()(
    'shared/manager/commit-plan.ts',
    'planCommits',
    (original, removed) => (holder, commits) => {
      removed();
      const plan = original(holder, commits);
      const perItem = plan.operations.map((operation, index) =>
        plan.owners[index] === 'epoch' ? withConditions(operation, isThere) : withItemEpoch(operation, holder.token),
      );
      return { ...plan, operations: perItem };
    },
  ),
  /** What is missing to the own token is added to the one that was read. */
  'claims that add': replacementIn<typeof claimItems>()(
    'shared/manager/claim-items.ts',
    'claimItems',
    (_, removed) => async (holder, claims) => {
      removed();
      const { store, random } = holder.ports;
      const added: Operation[] = [];
      for (const { key, set = {} } of claims) {
        const before = Number((await store.get(key))?.token ?? 0);
        if (before > holder.token) return false;
        const { token: _token, ...rest } = set;
        added.push({ kind: 'update', key, set: rest, add: { token: holder.token - before } });
      }
      return (await store.write(added, { token: random.uuid() })).kind === 'written';
    },
  ),
  'unfenced beat': replacementIn<typeof fence>()('shared/manager/fence.ts', 'beatConditions', (_, removed) => () => {
    removed();
    return isThere;
  }),
  /** A run that has not beaten for long goes on until somebody tells it to stop. */
  'no self-fence': replacementIn<typeof run>()('shared/manager/run.ts', 'startRun', (original, removed) => (start) => {
    const started = original(start);
    const inForce = () => {
      removed();
      return !started.ended();
    };
    return { ...started, inForce };
  }),
  'stale message accepted': replacementIn<typeof dropReason>()(
    'shared/manager/drop-reason.ts',
    'reasonToDrop',
    (_, removed) => async () => {
      removed();
      return undefined;
    },
  ),
  'doneSlot ignored': replacementIn<typeof doneSlot>()(
    'shared/manager/done-slot.ts',
    'doneSlotOf',
    (_, removed) => () => {
      removed();
      return -1;
    },
  ),
  'no CAS': replacementIn<typeof commitCondition>()(
    'shared/manager/commit-condition.ts',
    'unchangedSince',
    (_, removed) => () => {
      removed();
      return isThere;
    },
  ),
  /** A commit whose answer was lost is taken as made. */
  'no read-back': replacementIn<typeof fencedWrite>()(
    'shared/manager/fenced-write.ts',
    'writeFenced',
    (original, removed) => (holder, operations) => {
      const { store } = holder.ports;
      const write: Store['write'] = async (...args) => {
        const outcome = await store.write(...args);
        if (outcome.kind !== 'inDoubt') return outcome;
        removed();
        return { kind: 'written' };
      };
      return original({ ...holder, ports: { ...holder.ports, store: { ...store, write } } }, operations);
    },
  ),
  'no checkpoint': replacementIn<typeof checkpoint>()(
    'shared/manager/checkpoint.ts',
    'writeCheckpoints',
    (_, removed) => async () => removed(),
  ),
  'thresholds reset at hand-over': replacementIn<typeof storedWorker>()(
    'shared/manager/stored-worker.ts',
    'storedWorker',
    (original, removed) =>
      (...args) => {
        removed();
        const { lastResult: _, ...worker } = original(...args);
        return { ...worker, resultRun: 0 };
      },
  ),
  'streak break not persisted': replacementIn<typeof transition>()(
    'shared/manager/transition.ts',
    'mustCommit',
    (original, removed) => (before, after) => {
      if (before.streak !== after.streak) removed();
      return original(before, { ...after, streak: before.streak });
    },
  ),
  /** Of two that have read the same status both write theirs. */
  'no version order (status)': replacementIn<typeof statusUpdate>()(
    'shared/manager/status-update.ts',
    'statusUpdate',
    (original, removed) =>
      (...args) => {
        removed();
        const operation = original(...args);
        return withConditions(
          operation,
          (operation.if ?? []).filter((one) => !names(one, 'version')),
        );
      },
  ),
  /** Any ack is one of whatever was committed. */
  'no version order (acks)': replacementIn<typeof acks>()(
    'shared/manager/acks.ts',
    'isAcked',
    (original, removed) => (status, name, version) => {
      removed();
      return original(status, name, version) || status.acked[name] !== undefined;
    },
  ),
  'upsert instead of conditional update': replacementIn<typeof commitCondition>()(
    'shared/manager/commit-condition.ts',
    'unchangedSince',
    (_, removed) => () => {
      removed();
      return [];
    },
  ),
  /** PutEvents answers 200 also when it has not taken an entry. */
  'FailedEntryCount ignored': replacementIn<typeof outbox>()(
    'shared/manager/outbox.ts',
    'publishOutbox',
    (original, removed) =>
      async (...args) => {
        if ((await original(...args)) !== 'published') removed();
        return 'published';
      },
  ),
  /** Before anybody knows what became of it. */
  'outbox cleared on PutEvents': replacementIn<typeof outbox>()(
    'shared/manager/outbox.ts',
    'publishOutbox',
    (original, removed) =>
      async (...args) => {
        removed();
        void original(...args);
        return 'published';
      },
  ),
  /** The status is written as if nothing were to be told, and what there is to tell is tried once. */
  'no outbox': replacementIn<typeof writeStatus>()(
    'shared/manager/write-status.ts',
    'writeStatus',
    (original, removed) => async (ports, state, plan) => {
      const { publish } = plan;
      const written = await original(ports, state, { ...plan, record: { ...plan.record, outbox: [] }, publish: [] });
      if (written !== 'written' || publish.length === 0) return written;
      removed();
      const { publishOutbox } = await import('../../../shared/manager/outbox.ts');
      await publishOutbox(ports, state.target, publish);
      return written;
    },
  ),
  /** What was committed is told once. */
  'no reconcile': replacementIn<typeof republish>()(
    'shared/manager/republish.ts',
    'publishAgain',
    (_, removed) =>
      async (_holder, { unacked }, nowMs) => {
        removed();
        for (const [name, one] of [...unacked]) unacked.set(name, { ...one, publishedAtMs: nowMs });
      },
  ),
  'no canary': replacementIn<typeof selfHealth>()(
    'shared/core/self-health.ts',
    'findingOf',
    (original, removed) => (signs) => {
      removed();
      return original({ ...signs, canaries: [] });
    },
  ),
  'no stall detector': replacementIn<typeof stall>()('shared/manager/stall.ts', 'stallWatch', (_, removed) => () => ({
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
