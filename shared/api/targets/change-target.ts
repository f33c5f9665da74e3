/**
 * How the API writes: read, decide, write on condition of what was read, and retry if another writer was faster. The
 * holder notices a change by the counter of the target's slice, which moves before and after the write: before, so that
 * a reload that misses the write is followed by another; after, so that the write is seen at all. A repetition that
 * changes nothing moves it too, because its first try may have died in between.
 */
import { syncRequested } from '../../bus/events.ts';
import { type Admission, type Growth, growthOf, isGrowth } from '../../core/shards/quota.ts';
import { sleep } from '../../lib/clock.ts';
import { sameValue } from '../../lib/equality.ts';
import type { TargetAddress } from '../../store/records/keys.ts';
import { type Operation, StoreUnavailable } from '../../store/store.ts';
import { touchChanges } from '../../table/change-counters.ts';
import { type Problem, quotaExceeded } from '../http/problem.ts';
import type { ApiDeps } from '../ports/deps.ts';
import { readStored, type StoredTarget, unreadable } from './stored-target.ts';

/** What to do, given the state that was read (undefined: there is no such target). */
export type Plan =
  | Problem
  /** The state is as requested. */
  | { readonly kind: 'unchanged'; readonly stored: StoredTarget }
  | WritePlan;

type AcceptedPlan = Exclude<Plan, Problem>;

/** `stored`: the state after the operations. */
type WritePlan = {
  readonly kind: 'write';
  readonly operations: readonly Operation[];
  readonly stored: StoredTarget;
  readonly created: boolean;
};

export type TargetChange = {
  readonly kind: 'ok';
  readonly stored: StoredTarget;
  /** The target before; undefined: there was none. */
  readonly before: StoredTarget | undefined;
  readonly created: boolean;
  /** Whether the state was another one before, or would have been with `dryRun`. */
  readonly changed: boolean;
};

const attemptsMax = 8;
const jitterFirstMs = 20;

/**
 * @param reason included in the wake-up of status-sync
 * @param dryRun decide and answer, but write and publish nothing
 * @throws StoreUnavailable when the store stays unreachable or other writers are faster every time
 */
export async function changeTarget(
  deps: ApiDeps,
  address: TargetAddress,
  planFor: (stored: StoredTarget | undefined) => Plan,
  reason: string,
  dryRun: boolean,
): Promise<TargetChange | Problem> {
  let doubted: WritePlan | undefined;
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const read = await readStored(deps, address);
    if (read.kind === 'poison') return unreadable;
    const before = read.kind === 'found' ? read.stored : undefined;
    const plan = donePlan(doubted, before) ?? planFor(before);
    if (plan.kind === 'problem') return plan;
    const growth = growthOf(before?.target, plan.stored.target);
    const admission = await admissionFor(deps, address, growth);
    if (admission.kind === 'exceeded') return quotaExceeded(admission.excess);
    let outcome: WriteResult = 'refused';
    try {
      outcome = dryRun ? 'applied' : await carryOut(deps, address, plan, growth, reason);
    } finally {
      admission.end(outcome === 'applied' && !dryRun);
    }
    if (outcome === 'applied') return doneBy(plan, before, doubted);
    if (outcome === 'inDoubt' && plan.kind === 'write' && isNewVersion(plan, before)) doubted = plan;
    await sleep(deps.clock, jitterFirstMs * attempt * (0.5 + deps.random.next()));
  }
  throw new StoreUnavailable('others changed the target at every attempt');
}

const doneBy = (
  plan: AcceptedPlan,
  before: StoredTarget | undefined,
  doubted: WritePlan | undefined,
): TargetChange => ({
  kind: 'ok',
  stored: plan.stored,
  before,
  created: plan.kind === 'write' && plan.created,
  changed: plan.kind === 'write' || doubted !== undefined,
});

const isNewVersion = ({ stored }: WritePlan, before: StoredTarget | undefined): boolean =>
  stored.target.resourceVersion !== before?.target.resourceVersion;

/**
 * An earlier attempt was applied and only its answer was lost: its preconditions do not hold for the state that it has
 * produced.
 */
function donePlan(doubted: WritePlan | undefined, now: StoredTarget | undefined): Plan | undefined {
  if (!doubted || !now || !sameValue(doubted.stored.target, now.target)) return undefined;
  return { kind: 'unchanged', stored: now };
}

/** A reduction is never refused and needs no reservation. */
async function admissionFor({ quotas }: ApiDeps, { prefix }: TargetAddress, growth: Growth): Promise<Admission> {
  return quotas && isGrowth(growth) ? quotas.take(prefix, growth) : { kind: 'taken', end: () => undefined };
}

/** Refused or in doubt: the next read shows the stored state. */
type WriteResult = 'applied' | 'refused' | 'inDoubt';

async function carryOut(
  deps: ApiDeps,
  address: TargetAddress,
  plan: AcceptedPlan,
  growth: Growth,
  reason: string,
): Promise<WriteResult> {
  await touchChanges(deps, address);
  if (plan.kind === 'write') {
    const outcome = await deps.store.write(plan.operations, { token: deps.random.uuid() });
    if (outcome.kind !== 'written') return outcome.kind;
    await touchChanges(deps, address, growth);
    if (plan.stored.target.deletionTimestampMs !== undefined) await deps.onTerminating?.(address);
  }
  await wakeStatusSync(deps, plan.stored, reason);
  return 'applied';
}

/** Only a hint: the holder requests the same when it sees the change, so a failing bus costs time, not correctness. */
async function wakeStatusSync(deps: ApiDeps, { target }: StoredTarget, reason: string): Promise<void> {
  const { namespace, name } = target;
  const request = syncRequested(target, { reason, id: deps.random.uuid(), timeMs: deps.clock.nowMs() });
  const outcome = await deps.bus.publish([request]);
  if (outcome.failed.length > 0 && !outcome.denied)
    deps.log.warn('Target Sync Requested not published', { namespace, name, reason });
}
