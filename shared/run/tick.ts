/**
 * Tick mode: a run holds its shard only until everything is done that is due in its slot. What it probes, and when, is decided in
 * core/tick-plan.ts; what comes up later in the minute waits for the next run.
 */
import { mayTrust } from '../core/self-health.ts';
import { slotOf } from '../core/slots.ts';
import { planTick, type TickProbe, type TickSlot } from '../core/tick-plan.ts';
import { dueMs, readyWakes } from '../core/ticker.ts';
import { cpuMs } from '../core/weight.ts';
import { sleep, within } from '../lib/clock.ts';
import type { ShardMessage } from '../queue/queue.ts';
import type { RunRecord } from '../store/items.ts';
import type { Holder } from './holder.ts';
import type { Loop } from './probing/due-loop.ts';
import type { HeldProbe, HeldTarget } from './probing/held-target.ts';
import { carryOver, holdBack, planAt } from './probing/probe-schedule.ts';
import { phasedOf } from './probing/workers.ts';

/** How often a run looks whether it is done. */
const lookMs = 100;
/** After the end of the slot nothing begins, but the slowest probe has its time: one of a minute would never have it otherwise. */
const overtimeMs = 62_000;

/** Which instants the run has. */
export type Covered = Omit<TickSlot, 'nowMs'>;

export type Ticking = {
  readonly covered: Covered;
  /** The end of the slot, wall time. */
  readonly deadlineMs: number;
};

/** `before`: RUN as the run before left it, if it is of this generation. `unheldSinceMs`: if it is not, since when nobody may have probed. */
export function coveredBy(
  { buckets, slot }: Pick<ShardMessage, 'buckets' | 'slot'>,
  before: RunRecord | undefined,
  unheldSinceMs: number,
): Covered {
  const numbered = (ordinal: number) => slotOf({ from: buckets.from, mode: 'tick' }, ordinal);
  const toMs = numbered(slot).endMs;
  if (!before) return { fromMs: Math.min(unheldSinceMs, numbered(slot).beginMs), toMs };
  // Of a run that crashed nobody knows how far it came.
  if (before.doneSlot !== before.slot) {
    const isFirst = before.doneSlot < 0;
    return { fromMs: isFirst ? numbered(before.slot).beginMs : numbered(before.doneSlot).endMs, toMs };
  }
  const { beginMs, endMs } = numbered(before.slot);
  const { beganAtMs } = before;
  return { fromMs: endMs, toMs, ...(beganAtMs !== undefined && { before: { slotBeginMs: beginMs, beganAtMs } }) };
}

/** The same instants by a wall clock that is so far ahead of the schedule's. */
export const shifted = ({ fromMs, toMs, before }: Covered, aheadMs: number): Covered => ({
  fromMs: fromMs + aheadMs,
  toMs: toMs + aheadMs,
  ...(before && { before: { ...before, slotBeginMs: before.slotBeginMs + aheadMs } }),
});

type Ticked = Pick<Holder, 'run' | 'targets' | 'self' | 'schedule'>;

/** Resolves when the slot is done, over, or the run is to end; false: the prober doubted itself all the time, the slot is not done. */
export async function tickOnce(holder: Ticked, loop: Loop, { covered, deadlineMs }: Ticking): Promise<boolean> {
  const { leaving, ports } = holder.run;
  const { clock } = ports;
  const until = async (holds: () => boolean) => {
    const goesOn = () => !leaving.aborted && clock.nowMs() < deadlineMs;
    while (!holds() && goesOn()) await sleep(clock, lookMs, leaving);
    return holds() && goesOn();
  };
  let isPlanned = false;
  // What it finds in doubt is void: it waits until it can be sure of itself. Timekeeping and triggers go on.
  if (!isSound(holder)) for (const [, { schedule }] of heldProbes(holder)) holdBack(schedule);
  while (await until(() => isSound(holder))) {
    const beganAtMs = clock.monotonicMs();
    plan(holder, { ...covered, nowMs: clock.nowMs() }, isPlanned ? 'void' : 'all');
    isPlanned = true;
    await until(() => isDone(holder, loop));
    if (isSound(holder) && !holder.self.doubtedSince(beganAtMs)) break;
  }
  await within(clock, loop.stopped(), overtimeMs, leaving);
  keepRestPending(holder);
  return isPlanned;
}

const isSound = ({ self }: Pick<Holder, 'self'>): boolean => mayTrust(self.health());

const heldProbes = ({ targets }: Pick<Holder, 'targets'>): readonly (readonly [HeldTarget, HeldProbe])[] =>
  [...targets.values()].flatMap((held) => [...held.probes.values()].map((probe) => [held, probe] as const));

/** `void`: only what has come to nothing in this run. */
function plan(holder: Pick<Holder, 'targets' | 'schedule'>, slot: TickSlot, which: 'all' | 'void'): void {
  const waiting = heldProbes(holder).filter(
    // A trigger comes at once, and a tick beside it would be dropped.
    ([, { schedule, verdict }]) =>
      !schedule.inFlight && !schedule.ticker.triggerHeld && (which === 'all' || verdict.isVoid),
  );
  const begins = planTick(
    waiting.map(([held, probe]) => tickProbe(held, probe, which === 'void')),
    slot,
  );
  waiting.forEach(([held, probe], at) => {
    planAt(probe.schedule, begins[at]);
    holder.schedule(held, probe);
  });
}

function tickProbe({ target }: HeldTarget, probe: HeldProbe, isVoid: boolean): TickProbe {
  const { name, spec } = probe;
  const { ticker, pending } = probe.schedule;
  const probedAtMs = ticker.resting?.probedAtMs;
  return {
    phased: phasedOf(target, name, spec.probe.periodSeconds),
    isPending: pending || isVoid || readyWakes(ticker).includes('tick'),
    timeoutMs: spec.probe.timeoutSeconds * 1000,
    cpuMs: cpuMs(spec.probe),
    ...(probedAtMs !== undefined && { probedAtMs }),
  };
}

/** Nothing is under way, planned or waiting for room, and no target is to be looked at now. */
const isDone = (holder: Pick<Holder, 'targets'>, loop: Loop): boolean =>
  loop.isQuiet() &&
  heldProbes(holder).every(([, { schedule }]) => dueMs(schedule.ticker, 0) === Number.POSITIVE_INFINITY);

/** What was planned and not begun, and what came to nothing because the prober doubts itself: the next run has it first. */
function keepRestPending(holder: Pick<Holder, 'targets' | 'self'>): void {
  const inDoubt = !isSound(holder);
  for (const [, { schedule, verdict }] of heldProbes(holder)) carryOver(schedule, inDoubt && verdict.isVoid);
}
