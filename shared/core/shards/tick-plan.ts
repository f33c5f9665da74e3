/**
 * Tick mode: what the run of a slot probes, and when. It does not wait for the instants of its slot. It probes at once,
 * in their order, every probe that has an instant until the slot ends or had one in a slot without a run. So every
 * instant is covered once, whenever in its minute the run comes, and two probes of one worker are still 0.9 period
 * apart. See docs/design/holding.md. Pure.
 */

import { firstInstant, gapMin, type Phased } from '../kubelet/ticker.ts';
import { tickSlotMs } from './slots.ts';

export type TickSlot = {
  /** First instant that the run covers. */
  readonly fromMs: number;
  /** End of the slot, up to which it covers instants. */
  readonly toMs: number;
  readonly nowMs: number;
  /** The previous run, if it did its slot: when that slot and that run began. */
  readonly before?: { readonly slotBeginMs: number; readonly beganAtMs: number };
};

export type TickProbe = {
  readonly phased: Phased;
  /** It was never probed, or its last probe had no result. */
  readonly isPending: boolean;
  /** When it was last begun, wall time; absent: not by this process. */
  readonly probedAtMs?: number;
  readonly timeoutMs: number;
  /** Of one vCPU. */
  readonly cpuMs: number;
};

/**
 * Begun one after the other at this pace, probes take a tenth of a vCPU: what `splitAbove` leaves to a shard of a
 * function (core/layout.ts).
 */
export const paceFactor = 10;
/** A run begins all probes this long before its slot ends, however many there are, so that they can finish. */
const paceReserveMs = 15_000;
/** If two runs are equally far from the time when a probe without an instant is due, the later one makes it. */
const earlyMsMax = tickSlotMs / 2;

type Due = { readonly probe: TickProbe; readonly at: number; readonly dueMs: number };

/** When each of these probes begins, wall time; undefined: not in this run. */
export function planTick(probes: readonly TickProbe[], slot: TickSlot): readonly (number | undefined)[] {
  const due = probes
    .flatMap((probe, at): readonly Due[] => {
      const dueMs = dueInSlot(probe, slot);
      return dueMs === undefined ? [] : [{ probe, at, dueMs }];
    })
    .sort((one, other) => one.dueMs - other.dueMs);
  const begins: (number | undefined)[] = probes.map(() => undefined);
  const factor = paceOf(due, slot);
  let offsetMs = 0;
  for (const { probe, at, dueMs } of due) {
    begins[at] = beginOf(probe, dueMs, slot, offsetMs);
    offsetMs += probe.cpuMs * factor;
  }
  return begins;
}

/**
 * Its position in the order of this run; undefined: it is not due, or so soon after its last probe that a later run
 * makes it.
 */
function dueInSlot(probe: TickProbe, slot: TickSlot): number | undefined {
  if (probe.isPending) return Number.NEGATIVE_INFINITY;
  const probedAtMs = knownBegin(probe, slot);
  const instantMs = firstInstant(slot.fromMs, probe.phased);
  const againMs = probedAtMs === undefined ? Number.POSITIVE_INFINITY : probedAtMs + probe.phased.periodMs;
  const hasInstant = instantMs < slot.toMs;
  // After a probe that was late, or early by a trigger, the period counts too: the return to its instants must not
  // leave a long gap.
  if (!hasInstant && againMs - slot.nowMs > earlyMsMax) return undefined;
  const soonestMs = probedAtMs === undefined ? slot.nowMs : soonestAfter(probedAtMs, probe);
  return soonestMs > latestBegin(probe, slot) ? undefined : Math.min(againMs, hasInstant ? instantMs : againMs);
}

function beginOf(probe: TickProbe, dueMs: number, slot: TickSlot, offsetMs: number): number {
  const pacedMs = slot.nowMs + Math.floor(offsetMs);
  if (probe.isPending) return pacedMs;
  const probedAtMs = knownBegin(probe, slot);
  if (probedAtMs !== undefined) return Math.max(pacedMs, soonestAfter(probedAtMs, probe));
  const { before } = slot;
  if (!before || dueMs - probe.phased.periodMs < before.slotBeginMs) return pacedMs;
  // Another process served its last instant, about as late in its run as it comes in this one.
  const likelyMs = soonestAfter(before.beganAtMs, probe) + Math.floor(offsetMs);
  return Math.max(pacedMs, Math.min(likelyMs, latestBegin(probe, slot)));
}

const soonestAfter = (beganAtMs: number, { phased }: TickProbe): number =>
  Math.ceil(beganAtMs + gapMin * phased.periodMs);

/** The latest begin that leaves the time-out before the slot ends; a shorter time-out allows a later begin. */
const latestBegin = ({ timeoutMs }: TickProbe, { toMs, nowMs }: TickSlot): number => Math.max(nowMs, toMs - timeoutMs);

/** A begin in the future was recorded by a clock that has been set back. */
const knownBegin = ({ probedAtMs }: TickProbe, { nowMs }: TickSlot): number | undefined =>
  probedAtMs !== undefined && probedAtMs <= nowMs ? probedAtMs : undefined;

/** Wall time per CPU time: less if the probes would otherwise not fit in the slot. */
function paceOf(due: readonly Due[], { toMs, nowMs }: TickSlot): number {
  const cpuMs = due.reduce((sum, { probe }) => sum + probe.cpuMs, 0);
  const availableMs = Math.max(0, toMs - nowMs - paceReserveMs);
  return cpuMs * paceFactor <= availableMs ? paceFactor : availableMs / cpuMs;
}
