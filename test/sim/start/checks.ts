/** What has to hold in the world of `npm start`, judged by the truth alone. */
import type { FaultTimes } from './faults.ts';
import { shouldBeOpen, type TargetTruth } from './truth.ts';
import type { StartWorld } from './world.ts';

/**
 * After the last fault: the next scan of all targets (5 min), the longest rest between two tries of a receiver (5 min),
 * and what is left of an older queue.
 */
const recoverMs = 15 * 60_000;
/** Without a fault: a period, the window of a group, two answers; and as much again for what begins meanwhile. */
const promptMs = 60_000;
/** An edit may count with the next scan. */
const editPromptMs = 6 * 60_000;
export const periodMs = 10_000;
/** Beyond the period, where the store and the machine are well. */
const probeSlackMs = 5_000;
/** How long a fault of the store or the machine may delay probes after its end. */
const probeRecoverMs = 120_000;

/** Wrong: what each receiver shows, beyond the time that it may take. */
export function wrongIncidents({ clock, truth, receivers }: StartWorld, times: FaultTimes): readonly string[] {
  const nowMs = clock.monotonicMs();
  return [...receivers.values()].flatMap((receiver) => {
    const faultMs = Math.max(times.commonMs, times.receiverMs.get(receiver.name) ?? 0);
    return truth.targets.flatMap((target) => {
      const should = shouldBeOpen(truth, target);
      if (should === undefined || receiver.isOpen(target.name) === should) return [];
      const editedMs = Math.max(truth.teamsChangedMs, target.editedMs);
      const sinceMs = Math.max(target.turnedMs, editedMs, faultMs);
      const isLate =
        nowMs - sinceMs > recoverMs ||
        (nowMs - faultMs > recoverMs && nowMs - target.turnedMs > promptMs && nowMs - editedMs > editPromptMs);
      if (!isLate) return [];
      const seconds = Math.round((nowMs - sinceMs) / 1_000);
      return [`${receiver.name}: ${target.name} is ${should ? 'not ' : ''}open, wrong for ${seconds} s`];
    });
  });
}

/** Probes that are late although neither the store nor the machine has a fault: alerts must not matter. */
export function lateProbes({ clock, truth }: StartWorld, { probingMs }: FaultTimes): readonly string[] {
  const nowMs = clock.monotonicMs();
  if (nowMs - probingMs < probeRecoverMs) return [];
  const isLate = ({ probedMs }: TargetTruth) => nowMs - probedMs > periodMs + probeSlackMs;
  return truth.targets
    .filter(isLate)
    .map(({ name, probedMs }) => `${name} was not probed for ${Math.round((nowMs - probedMs) / 1_000)} s`);
}
