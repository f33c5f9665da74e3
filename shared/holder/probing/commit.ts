/** Makes the decision of a worker's step durable. Only then is it kept in memory, published and logged. */
import type { EventRecord, ProbeRecord } from '../../core/spec/records.ts';
import type { ProbeName } from '../../core/spec/spec.ts';
import { spend } from '../../core/status/history-budget.ts';
import { publishedResult } from '../../core/status/shown.ts';
import type { Commit } from '../commit/plan.ts';
import type { Holder } from '../holder.ts';
import type { Run } from '../run.ts';
import { recordedBusEvent, resultChanged } from './events.ts';
import { type Due, type HeldProbe, type HeldTarget, refreshView } from './held.ts';
import { trigger } from './probe-schedule.ts';
import { committed, committing, remember, restartCounters } from './probe-verdict.ts';
import { isAskedEvent, isKeptQuiet, isNewer, type StepPlan } from './step-plan.ts';

/** The parts of a holder that a commit needs. */
export type Committing = Pick<
  Holder,
  'run' | 'commits' | 'publisher' | 'targets' | 'schedule' | 'scheduleTarget' | 'reload'
>;

/**
 * Returns false if the commit did not go through or the worker is no longer held. Its cycle is then over. Releases the
 * place before it commits, so that other probes do not wait for the store.
 */
export function commitStep(holder: Committing, held: HeldTarget, planned: Planned): boolean | Promise<boolean> {
  const { probe, plan } = planned;
  if (plan.after || plan.events.length > 0) return commitPlan(holder, held, planned);
  // Almost every step ends here, so it costs no promise.
  remember(probe.verdict, plan.memory);
  return true;
}

type Planned = Due & { readonly plan: StepPlan };

async function commitPlan(holder: Committing, held: HeldTarget, { probe, place, plan }: Planned): Promise<boolean> {
  const { after, events, memory } = plan;
  if (after) place.leave();
  else remember(probe.verdict, memory);
  const before = probe.verdict.record;
  const { digest } = probe.spec;
  const stepped = { address: held.address, before, events, ...(after && { after }) };
  const commit = withinBudget(stepped, holder.commits.isScarce());
  committing(probe.verdict, after !== undefined && changesGate(before, after));
  const result = await holder.commits.submit(commit);
  committing(probe.verdict, false);
  if (result === 'superseded') await holder.reload(held);
  if (result !== 'committed') return false;
  if (commit.after) {
    committed(probe.verdict, commit.after);
    held.records.set(probe.name, commit.after);
  }
  if (after) for (const name of refreshView(held)) triggerProbe(holder, held, name);
  publishRecorded(holder, held, { probe, events });
  if (!after) return true;
  if (after.version !== before.version) publishChange(holder, held, { probe, before, after, events });
  if (held.gone) {
    await renewSuccessor(holder, held, { name: probe.name, after });
    return false;
  }
  remember(probe.verdict, memory);
  // The spec changed during the commit. What was counted for the old spec says nothing about the new one.
  if (probe.spec.digest !== digest) restartCounters(probe.verdict);
  return true;
}

/** Whether the worker may probe after it and not before, or the reverse. */
const changesGate = (before: ProbeRecord, after: ProbeRecord): boolean =>
  after.onHold !== before.onHold || after.ended !== before.ended || after.containerID !== before.containerID;

/** The commit without the events that the probe's budget, or a table without capacity, allows in no event history. */
function withinBudget(commit: Commit, isScarce: boolean): Commit {
  const { before, after, events } = commit;
  const { counted, kept, budget } = spend(before.history, events, { isFree: isAskedEvent, isScarce });
  const latest = counted.find(({ kind }) => kind === 'transition');
  const isSpent = budget !== undefined && budget !== before.history;
  return {
    ...commit,
    ...(isSpent && { after: { ...(after ?? before), history: budget } }),
    events: kept,
    ...(latest && { latest }),
  };
}

type Recorded = { readonly probe: HeldProbe; readonly events: readonly EventRecord[] };

function publishRecorded(
  { publisher }: Pick<Holder, 'publisher'>,
  held: HeldTarget,
  { probe, events }: Recorded,
): void {
  const recorded = events.filter((event) => event.kind === 'recorded' && !isKeptQuiet(event) && !isAskedEvent(event));
  publisher.publish(recorded.map((event) => recordedBusEvent(held.target, event, probe)));
}

type Changed = Recorded & { readonly before: ProbeRecord; readonly after: ProbeRecord };

function publishChange(
  { run, publisher, scheduleTarget }: Pick<Holder, 'run' | 'publisher' | 'scheduleTarget'>,
  held: HeldTarget,
  { probe, before, after, events }: Changed,
): void {
  const attempts = events.find(({ kind }) => kind === 'transition')?.attempts ?? [];
  const event = resultChanged(held.target, { previousResult: publishedResult(before), after }, attempts);
  const nowMs = run.ports.clock.nowMs();
  const { sinceMs = run.ports.clock.monotonicMs() } = held.unacked.get(probe.name) ?? {};
  held.unacked.set(probe.name, { version: after.version, event, publishedAtMs: nowMs, sinceMs });
  publisher.publish([event]);
  logChange(run, held, { before, after });
  scheduleTarget(held, nowMs);
}

export function triggerProbe({ schedule }: Pick<Holder, 'schedule'>, held: HeldTarget, name: ProbeName): void {
  const probe = held.probes.get(name);
  if (!probe) return;
  trigger(probe.schedule);
  schedule(held, probe);
}

/**
 * If the target was read again during this commit, the read may have come before the write. The new entry in `targets`
 * then lacks the committed record and has to be reloaded.
 */
export async function renewSuccessor(
  { targets, reload }: Pick<Holder, 'targets' | 'reload'>,
  held: HeldTarget,
  { name, after }: { readonly name: ProbeName; readonly after: ProbeRecord },
): Promise<void> {
  const successor = targets.get(held.address.prefix);
  const known = successor?.target.uid === after.uid ? successor.records.get(name) : undefined;
  if (successor && known && isNewer(after, known)) await reload(successor);
}

function logChange(
  { ports }: Pick<Run, 'ports'>,
  held: HeldTarget,
  { before, after }: { readonly before: ProbeRecord; readonly after: ProbeRecord },
): void {
  const { namespace, name } = held.target;
  const { container, probeType, containerID, output, version, unknown } = after;
  ports.log.info('probe result changed', {
    namespace,
    name,
    container,
    probeType,
    containerID,
    result: publishedResult(after),
    previousResult: publishedResult(before),
    ...(unknown && { reason: unknown.reason }),
    output: unknown?.message ?? output,
    version,
  });
}
