/**
 * What AWS refuses for want of a right, by IAM or by the policy of a key. No repetition mends that, only a deployment does. So a denial is
 * logged once, not for each call; the same kind of request is not sent again for a while, so that nothing that retries becomes a storm; and
 * each denial is counted, for an alarm.
 */
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

export type Access = {
  /** Whether this kind of request was denied a short while ago: then it is not sent. */
  isDenied(request: string): boolean;
  denied(request: string, cause: unknown): void;
  /** It was answered: the next denial is logged again. */
  granted(request: string): void;
};

export type AccessOptions = {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Log, 'error'>;
  readonly onDenied?: () => void;
};

/** Far longer than any retry; short, since IAM itself denies for some seconds what a deployment has just allowed. */
export const deniedForMs = 30_000;

/** Targets name secrets and instances, so the list could grow without end: the oldest denial is forgotten first. */
const requestsMax = 1_000;

export function access({ clock, log, onDenied = () => undefined }: AccessOptions): Access {
  const untilMs = new Map<string, number>();
  return {
    isDenied: (request) => clock.monotonicMs() < (untilMs.get(request) ?? Number.NEGATIVE_INFINITY),
    denied(request, cause) {
      if (!untilMs.has(request)) log.error('access denied', { request, cause });
      else untilMs.delete(request);
      const [oldest] = untilMs.keys();
      if (oldest !== undefined && untilMs.size >= requestsMax) untilMs.delete(oldest);
      untilMs.set(request, clock.monotonicMs() + deniedForMs);
      onDenied();
    },
    granted: (request) => void untilMs.delete(request),
  };
}

/** SQS answers by the code of its older protocol; the last three are keys that may not be used. */
const deniedCodes: ReadonlySet<string> = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'KmsAccessDenied',
  'KmsAccessDeniedException',
  'KMSAccessDeniedException',
]);

export const isDenial = (code: string): boolean => deniedCodes.has(code);
