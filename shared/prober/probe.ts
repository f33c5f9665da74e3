/**
 * One whole probe: resolves the handler, makes attempts until one has no error, and turns them into a report. The shell
 * around core's rules.
 */

import type { ProbeSubject } from '../core/handler-row.ts';
import type { ProbeRequest } from '../core/handlers.ts';
import { type ProbeReport, type Reported, reportOf, shouldRetry } from '../core/probe-report.ts';
import { type Handler, resolveProbeRequest } from '../core/probe-request.ts';
import type { Attempt } from '../core/types.ts';
import type { Clock } from '../lib/clock.ts';
import type { SocketPermit } from '../net/net.ts';
import type { Prober, Probers } from './prober.ts';

/** An attempt and when it began, wall time. */
export type TimedAttempt = Attempt & { readonly timeMs: number };

export type ProbePorts = { readonly probers: Probers; readonly clock: Clock };

export type ProbeOrder = ProbeSubject & {
  /** Absent: the container has no such probe, which is a success without an attempt. */
  readonly handler?: Handler;
  readonly probeType: Reported['probeType'];
  readonly containerKind: Reported['containerKind'];
  readonly permit?: SocketPermit;
};

/** Never throws: an exception of a prober becomes a prober error of class `PROBER`. */
export async function probe(ports: ProbePorts, order: ProbeOrder): Promise<ProbeReport<TimedAttempt>> {
  const { probeType, containerKind } = order;
  const attempts = order.handler ? await attemptsOf(ports, order.handler, order) : [];
  return reportOf(attempts, { probeType, containerKind, container: order.container.name });
}

async function attemptsOf(ports: ProbePorts, handler: Handler, order: ProbeOrder): Promise<readonly TimedAttempt[]> {
  const resolved = resolveProbeRequest(handler, order);
  const nowMs = () => ports.clock.nowMs();
  if (resolved.kind === 'error') return [{ timeMs: nowMs(), ...erred(resolved.error, 'HANDLER') }];
  const attempts: TimedAttempt[] = [];
  do attempts.push({ timeMs: nowMs(), ...(await attempt(ports.probers, resolved.request, order.permit)) });
  while (shouldRetry(attempts));
  return attempts;
}

async function attempt(probers: Probers, request: ProbeRequest, permit?: SocketPermit): Promise<Attempt> {
  try {
    return await ask(probers, request, permit);
  } catch (error) {
    return erred(`prober threw: ${error instanceof Error ? error.message : String(error)}`, 'PROBER');
  }
}

/** The compiler cannot know which of the probers matches this request. */
const ask = (probers: Probers, request: ProbeRequest, permit: SocketPermit | undefined): Promise<Attempt> =>
  (probers[request.kind] as Prober)(request, permit);

const erred = (error: string, failureClass: 'HANDLER' | 'PROBER'): Attempt => ({
  outcome: 'unknown',
  output: '',
  error,
  failureClass,
  timings: { totalMs: 0 },
});
