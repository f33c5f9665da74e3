/** What the attempts of one probe come to: kubelet's `probe` and `runProbeWithRetries` (pkg/kubelet/prober/prober.go). */
import type { Attempt, ContainerKind, FailureClass, ProbeOutcome, ProbeType, Result } from './types.ts';

/** At most so many attempts, at once one after the other. */
const maxProbeRetries = 3;

export type Conclusion =
  | { readonly kind: 'result'; readonly result: Result }
  /** A prober error: the worker throws the result away, nothing counts. */
  | { readonly kind: 'error'; readonly error: string; readonly failureClass?: FailureClass };

/** An event as kubelet records it on the container's object; `ProberError` is none of kubelet's, and of the story alone. */
export type RecordedEvent = {
  readonly type: 'Warning';
  readonly reason: 'Unhealthy' | 'ProbeWarning' | 'ProberError';
  readonly message: string;
  readonly fieldPath: string;
};

export type ProbeReport<Tried extends Attempt = Attempt> = {
  readonly conclusion: Conclusion;
  readonly event?: RecordedEvent;
  /** All of them, oldest first; the last one decided. None: there was nothing to probe. */
  readonly attempts: readonly Tried[];
};

/** Whose probe it was, for the words of the event. */
export type Reported = {
  readonly probeType: ProbeType;
  readonly containerKind: ContainerKind;
  readonly container: string;
};

/**
 * Only an error is tried again, a failure never. The prober's own trouble and a denied dial are not: another attempt a moment later
 * meets the same, and costs the other probes time.
 */
export function shouldRetry(attempts: readonly Attempt[]): boolean {
  const last = attempts.at(-1);
  return last?.error !== undefined && attempts.length < maxProbeRetries && !isOwnTrouble(last.failureClass);
}

/** The result, or the error, and kubelet's event. No attempt at all (there is no such probe) is a success. */
export function reportOf<Tried extends Attempt>(attempts: readonly Tried[], reported: Reported): ProbeReport<Tried> {
  const last = attempts.at(-1);
  if (!last) return { conclusion: { kind: 'result', result: 'success' }, attempts };
  return { conclusion: conclusionOf(last), ...eventOf(last, reported), attempts };
}

function conclusionOf(last: Attempt): Conclusion {
  if (last.error === undefined) return { kind: 'result', result: resultOf(last.outcome) };
  const failureClass = last.failureClass;
  return { kind: 'error', error: last.error, ...(failureClass && { failureClass }) };
}

const resultOf = (outcome: ProbeOutcome): Result =>
  outcome === 'success' || outcome === 'warning' ? 'success' : 'failure';

function eventOf(last: Attempt, reported: Reported): { readonly event?: RecordedEvent } {
  const words = eventWords(last);
  if (!words) return {};
  const message = `${typeNames[reported.probeType]} probe ${words.text}`;
  return { event: { type: 'Warning', reason: words.reason, message, fieldPath: fieldPathOf(reported) } };
}

/** An outcome of unknown without an error leaves no event, as in kubelet. */
function eventWords(last: Attempt): { readonly reason: RecordedEvent['reason']; readonly text: string } | undefined {
  if (last.error !== undefined) {
    // Where kubelet blames the container, own trouble stays quiet: it is told as the prober's.
    if (isOwnTrouble(last.failureClass)) return undefined;
    return { reason: 'Unhealthy', text: `errored and resulted in ${last.outcome} state: ${last.error}` };
  }
  if (last.outcome === 'warning') return { reason: 'ProbeWarning', text: `warning: ${last.output}` };
  if (last.outcome === 'failure') return { reason: 'Unhealthy', text: `failed: ${last.output}` };
  return undefined;
}

const isOwnTrouble = (failureClass: FailureClass | undefined): boolean =>
  failureClass === 'PROBER' || failureClass === 'POLICY_DENIED';

const typeNames: Readonly<Record<ProbeType, string>> = {
  liveness: 'Liveness',
  readiness: 'Readiness',
  startup: 'Startup',
};

const fieldPathOf = ({ containerKind, container }: Reported): string =>
  `spec.${containerKind === 'container' ? 'containers' : 'initContainers'}{${container}}`;
