/** What has to hold in the world of `npm start`, judged by the truth alone. */
import { bucketCount } from '../../../shared/core/shards/slots.ts';
import { hashRangeOf } from '../../../shared/store/records/keys.ts';
import type { FaultTimes } from './faults.ts';
import { slowReadsMsMax } from './file-machine.ts';
import { loadMs } from './life.ts';
import type { Receiver } from './receivers.ts';
import { proberAlert, shouldBeOpen, type TargetTruth, targetAlert } from './truth.ts';
import type { StartWorld } from './world.ts';

/**
 * After the last fault: the next scan of all targets (5 min), the longest rest between two tries of a receiver (5 min),
 * and what is left of an older queue.
 */
export const recoverMs = 15 * 60_000;
/** Without a fault: a period, the window of a group, two answers; and as much again for what begins meanwhile. */
const promptMs = 60_000;
/** An edit may count with the next scan. */
const editPromptMs = 6 * 60_000;
/** What a hand-over from slot to slot may add to a period, where the store and the clock are well. */
const handOverMs = 5_000;
/** What a start takes, until the first instants of its probes count. */
const startMs = 2_000;
/** How long a fault of the store or the clock may delay probes after its end; a new process has no such excuse. */
const probeRecoverMs = 120_000;
/** What the alert about the prober is about. */
const whole = hashRangeOf({ from: 0, to: bucketCount });

const never = Number.NEGATIVE_INFINITY;

/** Wrong: what each receiver shows, beyond the time that it may take. */
export function wrongIncidents({ clock, truth, receivers }: StartWorld, times: FaultTimes): readonly string[] {
  const nowMs = clock.monotonicMs();
  return [...receivers.values()].flatMap((receiver) => {
    const faultMs = Math.max(times.commonMs, times.receiverMs.get(receiver.name) ?? never);
    return truth.targets.flatMap((target) => {
      const should = shouldBeOpen(truth, target);
      if (should === undefined || receiver.isOpen(targetAlert, target.name) === should) return [];
      const editedMs = Math.max(truth.teamsChangedMs, target.editedMs);
      const sinceMs = Math.max(target.turnedMs, editedMs, faultMs);
      const isLate =
        nowMs - sinceMs > recoverMs ||
        (nowMs - faultMs > recoverMs && nowMs - target.turnedMs > promptMs && nowMs - editedMs > editPromptMs);
      return isLate ? [wrongText(receiver, target.name, { should, forMs: nowMs - sinceMs })] : [];
    });
  });
}

/** A store that takes no write is reported while that lasts, and nothing is once all faults are over. */
export function wrongProberIncidents(
  { clock, truth, receivers, life }: StartWorld,
  times: FaultTimes,
): readonly string[] {
  const nowMs = clock.monotonicMs();
  const editedMs = truth.proberAlertChangedMs;
  const mayWait = editedMs <= times.readsMs + slowReadsMsMax;
  const readMs = mayWait ? Math.max(editedMs, times.readsMs) + slowReadsMsMax : editedMs;
  const changedMs = Math.max(readMs, life.beganMs + loadMs);
  return [...receivers.values()].flatMap((receiver) => {
    const isOpen = receiver.isOpen(proberAlert, whole);
    const receiverMs = (times.receiverMs.get(receiver.name) ?? never) + recoverMs;
    const refusedMs = Math.max(times.refusingMs ?? Number.POSITIVE_INFINITY, changedMs, receiverMs);
    const isMissing = !isOpen && truth.hasProberAlert && nowMs - refusedMs > promptMs;
    if (isMissing) return [wrongText(receiver, 'the prober', { should: true, forMs: nowMs - refusedMs })];
    const calmMs = Math.max(times.commonMs + recoverMs, receiverMs, changedMs + promptMs);
    return isOpen && nowMs > calmMs
      ? [wrongText(receiver, 'the prober', { should: false, forMs: nowMs - calmMs })]
      : [];
  });
}

type Wrong = { readonly should: boolean; readonly forMs: number };

const wrongText = ({ name }: Receiver, what: string, { should, forMs }: Wrong): string =>
  `${name}: ${what} is ${should ? 'not ' : ''}open, wrong for ${Math.round(forMs / 1_000)} s`;

/** Late probes although neither the store nor the clock has a fault: alerts and earlier lives must not matter. */
export function lateProbes({ clock, truth, life }: StartWorld, { probingMs }: FaultTimes): readonly string[] {
  const nowMs = clock.monotonicMs();
  if (nowMs - probingMs < probeRecoverMs) return [];
  const latestMs = ({ probedMs, periodSeconds }: TargetTruth) =>
    periodSeconds * 1_000 + Math.max(probedMs + handOverMs, life.beganMs + startMs);
  return truth.targets
    .filter((target) => nowMs > latestMs(target))
    .map(({ name, probedMs }) => `${name} was not probed for ${Math.round((nowMs - probedMs) / 1_000)} s`);
}
