/** A failed dial as the attempt of a prober that has nothing to add. */
import type { Attempt, FailureClass, PhaseTimings } from '../core/spec/types.ts';
import type { DialFailure } from '../net/net.ts';

/** A denied dial and an internal error of the prober are prober errors, never a failure of the target. */
export function failedDial(failure: DialFailure, totalMs: number): Attempt {
  const { failureClass } = failure;
  const timings = dialTimings(failure.dnsMs, totalMs);
  return isInternalFailure(failure)
    ? { outcome: 'unknown', output: '', error: failure.message, failureClass, timings }
    : { outcome: 'failure', output: failure.message, failureClass, timings };
}

/** Of an attempt that came no further. `dnsMs`: absent if no name was looked up. */
export const dialTimings = (dnsMs: number | undefined, totalMs: number): PhaseTimings =>
  dnsMs === undefined ? { totalMs } : { dnsMs, totalMs };

/** Not worth a second try, and not a fault of the target. */
export const isInternalFailure = ({ failureClass }: { readonly failureClass: FailureClass }): boolean =>
  failureClass === 'POLICY_DENIED' || failureClass === 'PROBER';
