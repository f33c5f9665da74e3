/**
 * Remembers which AWS requests IAM or a key policy denies. Only a deployment can fix a denial, so retrying is useless:
 * each kind of request is logged once and suspended for a while, and each denial is counted for an alarm.
 */
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

export type Access = {
  /** Whether this kind of request was denied less than `deniedForMs` ago and must not be sent. */
  isDenied(request: string): boolean;
  denied(request: string, cause: unknown): void;
  /** Records that the request was allowed: the next denial is logged again. */
  granted(request: string): void;
};

export type AccessOptions = {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Log, 'error'>;
  readonly onDenied?: () => void;
};

/**
 * Much longer than any retry interval. Still short, because IAM takes some seconds to apply what a deployment has
 * granted.
 */
export const deniedForMs = 30_000;

/** Targets name secrets and instances, so the number of requests is unbounded; the oldest denial is dropped first. */
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

/** SQS uses the code of its older protocol. The last three report a KMS key that the caller may not use. */
const deniedCodes: ReadonlySet<string> = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'KmsAccessDenied',
  'KmsAccessDeniedException',
  'KMSAccessDeniedException',
]);

export const isDenial = (code: string): boolean => deniedCodes.has(code);
