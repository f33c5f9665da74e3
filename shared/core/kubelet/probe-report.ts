/**
 * Turns the attempts of one probe into a result: kubelet's `probe` and `runProbeWithRetries`
 * (pkg/kubelet/prober/prober.go).
 */
import type { Attempt, ContainerKind, FailureClass, ProbeOutcome, ProbeType, Result } from '../spec/types.ts';

/** Maximum number of attempts, one directly after the other. */
const maxProbeRetries = 3;

export type Conclusion =
  | { readonly kind: 'result'; readonly result: Result }
  /** A prober error: the worker discards the result and no counter moves. */
  | { readonly kind: 'error'; readonly error: string; readonly failureClass?: FailureClass };

/**
 * An event as kubelet records it on the container's object. `ProberError` is not one of kubelet's and appears only in
 * the event history.
 */
export type RecordedEvent = {
  readonly type: 'Warning';
  readonly reason: 'Unhealthy' | 'ProbeWarning' | 'ProberError';
  readonly message: string;
  readonly fieldPath: string;
};

export type ProbeReport<Tried extends Attempt = Attempt> = {
  readonly conclusion: Conclusion;
  readonly event?: RecordedEvent;
  /** All attempts, oldest first; the last one decided. Empty: there was nothing to probe. */
  readonly attempts: readonly Tried[];
};

/** The probe that was made, for the text of the event. */
export type Reported = {
  readonly probeType: ProbeType;
  readonly containerKind: ContainerKind;
  readonly container: string;
};

/**
 * Only an error is retried, never a failure. An internal error of the prober and a denied dial are not retried either:
 * another attempt a moment later would meet the same, and would cost the other probes time.
 */
export function shouldRetry(attempts: readonly Attempt[]): boolean {
  const last = attempts.at(-1);
  return last !== undefined && attempts.length < maxProbeRetries && isRetriable(last);
}

/** Of a stored or published attempt, too. */
export const isRetriable = ({ error, failureClass }: Erred): boolean =>
  error !== undefined && !isInternalError(failureClass);

type Erred = { readonly error?: string | undefined; readonly failureClass?: string | undefined };

/** The result, or the error, and kubelet's event. Without an attempt (there is no such probe) it is a success. */
export function reportOf<Tried extends Attempt>(attempts: readonly Tried[], reported: Reported): ProbeReport<Tried> {
  const last = attempts.at(-1);
  if (!last) return { conclusion: { kind: 'result', result: 'success' }, attempts };
  const conclusion = conclusionOf(last);
  const event = eventOf(last, reported);
  return event ? { conclusion, event, attempts } : { conclusion, attempts };
}

function conclusionOf(last: Attempt): Conclusion {
  if (last.error === undefined) return { kind: 'result', result: resultOf(last.outcome) };
  const failureClass = last.failureClass;
  return { kind: 'error', error: last.error, ...(failureClass && { failureClass }) };
}

const resultOf = (outcome: ProbeOutcome): Result =>
  outcome === 'success' || outcome === 'warning' ? 'success' : 'failure';

function eventOf(last: Attempt, reported: Reported): RecordedEvent | undefined {
  const words = eventWords(last);
  if (!words) return undefined;
  const message = `${typeNames[reported.probeType]} probe ${words.text}`;
  return { type: 'Warning', reason: words.reason, message, fieldPath: fieldPathOf(reported) };
}

/** An outcome of unknown without an error produces no event, as in kubelet. */
function eventWords(last: Attempt): { readonly reason: RecordedEvent['reason']; readonly text: string } | undefined {
  if (last.error !== undefined) {
    // kubelet would blame the container. An internal error of the prober is published as the prober's instead.
    if (isInternalError(last.failureClass)) return undefined;
    return { reason: 'Unhealthy', text: `errored and resulted in ${last.outcome} state: ${last.error}` };
  }
  if (last.outcome === 'warning') return { reason: 'ProbeWarning', text: `warning: ${last.output}` };
  if (last.outcome === 'failure') return { reason: 'Unhealthy', text: `failed: ${last.output}` };
  return undefined;
}

const isInternalError = (failureClass: string | undefined): boolean =>
  failureClass === 'PROBER' || failureClass === 'POLICY_DENIED';

const typeNames: Readonly<Record<ProbeType, string>> = {
  liveness: 'Liveness',
  readiness: 'Readiness',
  startup: 'Startup',
};

const fieldPathOf = ({ containerKind, container }: Reported): string =>
  `spec.${containerKind === 'container' ? 'containers' : 'initContainers'}{${container}}`;
