/** What a step of a worker decided becomes durable, and only then is it in memory, told and logged. */
import type { EventRecord, ProbeRecord } from '../../core/records.ts';
import { publishedResult } from '../../core/shown.ts';
import type { ProbeName } from '../../core/spec.ts';
import { holdTrigger } from '../../core/ticker.ts';
import type { TimedAttempt } from '../../prober/probe.ts';
import type { Holder } from '../holder.ts';
import type { Run } from '../run.ts';
import { type HeldProbe, type HeldTarget, refreshView } from './held-target.ts';
import { isKeptQuiet, recordedBusEvent, resultChanged } from './probe-events.ts';
import { isNewer, transitionEvent } from './transition.ts';

type Committing = {
  readonly probe: HeldProbe;
  readonly after: ProbeRecord;
  readonly told: readonly EventRecord[];
  readonly attempts: readonly TimedAttempt[];
};

export async function commitRecord(
  holder: Holder,
  held: HeldTarget,
  { probe, after, told, attempts }: Committing,
): Promise<boolean> {
  const before = probe.record;
  const changed = after.version !== before.version;
  const transitions = changed ? [transitionEvent({ probe, before, after, attempts })] : [];
  const result = await holder.commits.submit({
    address: held.address,
    before,
    after,
    events: [...transitions, ...told],
  });
  if (result === 'superseded') await holder.reload(held);
  if (result !== 'committed') return false;
  probe.record = after;
  held.records.set(probe.name, after);
  for (const name of refreshView(held)) trigger(holder, held, name);
  tell(holder, held, { probe, told });
  if (changed) tellChange(holder, held, { probe, before, after, attempts });
  if (!held.gone) return true;
  await renewSuccessor(holder, held, { name: probe.name, after });
  return false;
}

type Changed = Pick<Committing, 'probe' | 'after' | 'attempts'> & { readonly before: ProbeRecord };

function tellChange(holder: Holder, held: HeldTarget, { probe, before, after, attempts }: Changed): void {
  const event = resultChanged(held.target, { previousResult: publishedResult(before), after }, attempts);
  const nowMs = holder.run.ports.clock.nowMs();
  held.unacked.set(probe.name, { version: after.version, event, publishedAtMs: nowMs });
  holder.publisher.publish([event]);
  logChange(holder.run, held, { before, after });
  holder.scheduleTarget(held, nowMs);
}

/** Events alone: a rationed failure in the middle of a run, a prober error. */
export async function commitEvents(
  holder: Holder,
  held: HeldTarget,
  probe: HeldProbe,
  told: readonly EventRecord[],
): Promise<boolean> {
  const result = await holder.commits.submit({ address: held.address, before: probe.record, events: told });
  if (result === 'superseded') await holder.reload(held);
  if (result === 'committed') tell(holder, held, { probe, told });
  return result === 'committed';
}

function tell(holder: Holder, held: HeldTarget, { probe, told }: Pick<Committing, 'probe' | 'told'>): void {
  const events = told.filter((event) => !isKeptQuiet(event));
  holder.publisher.publish(events.map((event) => recordedBusEvent(held.target, event, probe)));
}

export function trigger(holder: Holder, held: HeldTarget, name: ProbeName): void {
  const probe = held.probes.get(name);
  if (!probe) return;
  probe.ticker = holdTrigger(probe.ticker);
  holder.schedule(held, probe);
}

/** The target was read anew while this commit was under way, perhaps before it was applied: who holds it now may not know of it. */
export async function renewSuccessor(
  holder: Holder,
  held: HeldTarget,
  { name, after }: { readonly name: ProbeName; readonly after: ProbeRecord },
): Promise<void> {
  const successor = holder.targets.get(held.address.prefix);
  const known = successor?.target.uid === after.uid ? successor.records.get(name) : undefined;
  if (successor && known && isNewer(after, known)) await holder.reload(successor);
}

export function logChange(
  { ports }: Run,
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
