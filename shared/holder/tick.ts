/**
 * Tick mode: a run holds its shard only until all probes that are due in its slot are done. core/tick-plan.ts decides
 * what it probes and when. Probes that become due later in the minute wait for the next run.
 */

import { dueMs, readyWakes } from '../core/kubelet/ticker.ts';
import { mayTrust } from '../core/self/health.ts';
import { slotOf } from '../core/shards/slots.ts';
import { planTick, type TickProbe, type TickSlot } from '../core/shards/tick-plan.ts';
import { cpuMs } from '../core/spec/handlers.ts';
import { sleep, within } from '../lib/clock.ts';
import type { ShardMessage } from '../queue/queue.ts';
import type { RunRecord } from '../store/records/shard-records.ts';
import type { Holder } from './holder.ts';
import type { DueLoop } from './probing/due-loop.ts';
import { phasedOf } from './probing/held-spec.ts';
import type { Worker } from './probing/worker.ts';

/** How often a run looks whether it is done. */
const lookMs = 100;
/**
 * No probe begins after the end of the slot, but the slowest one may finish. Otherwise a probe with a time-out of a
 * minute could never use all of its time.
 */
const overtimeMs = 62_000;

/** The instants that the run covers. */
export type Covered = Omit<TickSlot, 'nowMs'>;

/**
 * `before`: RUN as the previous run left it, if that run was of this generation. `unheldSinceMs`: otherwise
 * the time since which possibly no run has probed the shard.
 */
export function coveredBy(
  { buckets, slot }: Pick<ShardMessage, 'buckets' | 'slot'>,
  before: RunRecord | undefined,
  unheldSinceMs: number,
): Covered {
  const numbered = (ordinal: number) => slotOf({ from: buckets.from, mode: 'tick' }, ordinal);
  const toMs = numbered(slot).endMs;
  if (!before) return { fromMs: Math.min(unheldSinceMs, numbered(slot).beginMs), toMs };
  // The previous run crashed and may have covered any part of its slot, so this run starts after the last slot that is
  // done.
  if (before.doneSlot !== before.slot) {
    const isFirst = before.doneSlot < 0;
    return { fromMs: isFirst ? numbered(before.slot).beginMs : numbered(before.doneSlot).endMs, toMs };
  }
  const { beginMs, endMs } = numbered(before.slot);
  const { beganAtMs } = before;
  return { fromMs: endMs, toMs, ...(beganAtMs !== undefined && { before: { slotBeginMs: beginMs, beganAtMs } }) };
}

/** The same instants on a wall clock that is this far ahead of the schedule's. */
export const shifted = ({ fromMs, toMs, before }: Covered, aheadMs: number): Covered => ({
  fromMs: fromMs + aheadMs,
  toMs: toMs + aheadMs,
  ...(before && { before: { ...before, slotBeginMs: before.slotBeginMs + aheadMs } }),
});

/**
 * Resolves when the slot is done or over, or when the run is to end. false: the prober doubted itself all the time, so
 * the slot is not done. `deadlineMs`: the end of the slot, wall time.
 */
export async function tickOnce(holder: Holder, loop: DueLoop, covered: Covered, deadlineMs: number): Promise<boolean> {
  const { leaving, ports } = holder.run;
  const { clock } = ports;
  const until = async (holds: () => boolean) => {
    const goesOn = () => !leaving.aborted && clock.nowMs() < deadlineMs;
    while (!holds() && goesOn()) await sleep(clock, lookMs, leaving);
    return holds() && goesOn();
  };
  let isPlanned = false;
  // In doubt every verdict is void, so the run waits until the prober trusts itself again. Timekeeping and triggers
  // continue.
  if (!isSound(holder)) for (const worker of workersOf(holder)) worker.holdBack();
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

const isSound = ({ self }: Holder): boolean => mayTrust(self.health());

const workersOf = ({ targets }: Holder): readonly Worker[] =>
  [...targets.values()].flatMap(({ workers }) => [...workers.values()]);

/** `void`: plans only the probes whose report in this run is void. */
function plan(holder: Holder, slot: TickSlot, which: 'all' | 'void'): void {
  const waiting = workersOf(holder).filter(
    // A trigger runs the probe at once, and a tick beside it would be dropped.
    ({ inFlight, ticker, isVoid }) => !inFlight && !ticker.triggerHeld && (which === 'all' || isVoid),
  );
  const begins = planTick(
    waiting.map((worker) => tickProbe(worker, which === 'void')),
    slot,
  );
  for (const [at, worker] of waiting.entries()) {
    worker.planAt(begins[at]);
    holder.schedule(worker);
  }
}

function tickProbe({ held, name, spec, ticker, pending }: Worker, isVoid: boolean): TickProbe {
  const probedAtMs = ticker.resting?.probedAtMs;
  return {
    phased: phasedOf(held.target, name, spec.probe.periodSeconds),
    isPending: pending || isVoid || readyWakes(ticker).includes('tick'),
    timeoutMs: spec.probe.timeoutSeconds * 1000,
    cpuMs: cpuMs(spec.probe),
    ...(probedAtMs !== undefined && { probedAtMs }),
  };
}

/** Nothing is under way, planned or waiting for the socket budget, and no target is due for the timekeeper. */
const isDone = (holder: Holder, loop: DueLoop): boolean =>
  loop.isQuiet() && workersOf(holder).every(({ ticker }) => dueMs(ticker, 0) === Number.POSITIVE_INFINITY);

/**
 * Keeps two kinds of probes pending for the next run, which makes them first: those that were planned and have not
 * begun, and those with a void report while the prober is in doubt.
 */
function keepRestPending(holder: Holder): void {
  const inDoubt = !isSound(holder);
  for (const worker of workersOf(holder)) worker.carryOver(inDoubt);
}
