/** A dial that failed, as the attempt of a prober that has no more to say about it. */
import type { Attempt } from '../core/types.ts';
import type { DialFailure } from '../net/net.ts';

/** A denied dial and the prober's own trouble are prober errors, never a failure of the target. */
export function failedDial(failure: DialFailure, totalMs: number): Attempt {
  const { failureClass, dnsMs } = failure;
  const timings = { ...(dnsMs !== undefined && { dnsMs }), totalMs };
  return isProbersOwn(failure)
    ? { outcome: 'unknown', output: '', error: failure.message, failureClass, timings }
    : { outcome: 'failure', output: failure.message, failureClass, timings };
}

/** Not worth a second try, and nobody's fault but ours. */
export const isProbersOwn = ({ failureClass }: DialFailure): boolean =>
  failureClass === 'POLICY_DENIED' || failureClass === 'PROBER';
