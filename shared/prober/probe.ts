/**
 * One whole probe: resolves the handler, makes attempts until one has no error, and turns them into a report. The shell
 * around core's rules.
 */

import { type ProbeReport, type Reported, reportOf, shouldRetry } from '../core/kubelet/probe-report.ts';
import type { ProbeSubject } from '../core/spec/handler-fields.ts';
import { type Handler, resolveProbeRequest } from '../core/spec/probe-request.ts';
import type { Attempt } from '../core/spec/types.ts';
import type { Clock } from '../lib/clock.ts';
import { memoized } from '../lib/memoized.ts';
import type { SocketPermit } from '../net/net.ts';
import type { Prober, Probers } from './prober.ts';

/** An attempt and when it began, wall time. */
export type TimedAttempt = Attempt & { readonly timeMs: number };

export type ProbePorts = { readonly probers: Probers; readonly clock: Clock };

/**
 * What a probe asks. The request that follows from it is made once for each order, so an order is kept between probes.
 */
export type ProbeOrder = ProbeSubject & {
  /** Absent: the container has no such probe, which is a success without an attempt. */
  readonly handler?: Handler;
  readonly probeType: Reported['probeType'];
  readonly containerKind: Reported['containerKind'];
};

/** Never throws: an exception of a prober becomes a prober error of class `PROBER`. */
export async function probe(
  { probers, clock }: ProbePorts,
  order: ProbeOrder,
  permit?: SocketPermit,
): Promise<ProbeReport<TimedAttempt>> {
  const attempts: TimedAttempt[] = [];
  const resolved = order.handler && requestOf(order);
  if (resolved?.kind === 'error') attempts.push({ timeMs: clock.nowMs(), ...erred(resolved.error, 'HANDLER') });
  if (resolved?.kind === 'request') {
    const { request } = resolved;
    // The compiler cannot know which of the probers matches this request.
    const prober = probers[request.kind] as Prober;
    do {
      const timeMs = clock.nowMs();
      try {
        attempts.push({ ...(await prober(request, permit)), timeMs });
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        attempts.push({ timeMs, ...erred(`prober threw: ${why}`, 'PROBER') });
      }
    } while (shouldRetry(attempts));
  }
  const { probeType, containerKind, container } = order;
  return reportOf(attempts, { probeType, containerKind, container: container.name });
}

/** Of an order with a handler. */
const requestOf = memoized((order: ProbeOrder) => resolveProbeRequest(order.handler as Handler, order));

const erred = (error: string, failureClass: 'HANDLER' | 'PROBER'): Attempt => ({
  outcome: 'unknown',
  output: '',
  error,
  failureClass,
  timings: { totalMs: 0 },
});
