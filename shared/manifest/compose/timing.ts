/** The numbers of a probe from the healthcheck of a Compose service. */
import { periodSecondsMax, thresholdMax, timeoutSecondsMax } from '../../core/spec/limits.ts';
import { durationSeconds, wholeSeconds } from '../duration.ts';
import type { Members } from '../values.ts';
import { type Read, wholeNumber } from './values.ts';

export type Timing =
  | {
      readonly kind: 'timed';
      readonly numbers: Members;
      /** What a probe cannot have as it is written, by field. */
      readonly approximated: readonly Cut[];
    }
  | { readonly kind: 'wrong'; readonly field: string; readonly detail: string };

export type Cut = { readonly field: string; readonly reason: string };

/** Docker's defaults, which a zero stands for, too. */
const defaults = { interval: 30, timeout: 30, retries: 3 } as const;

export function timingOf(healthcheck: Members): Timing {
  const interval = seconds(healthcheck.interval, defaults.interval);
  const timeout = seconds(healthcheck.timeout, defaults.timeout);
  const retries = wholeNumber(healthcheck.retries);
  if (interval === undefined) return { kind: 'wrong', field: 'interval', detail: duration };
  if (timeout === undefined) return { kind: 'wrong', field: 'timeout', detail: duration };
  if (isWrong(retries)) return { kind: 'wrong', field: 'retries', detail: 'must be a whole number of at least 0' };
  const threshold = (retries.kind === 'value' && retries.value) || defaults.retries;
  const numbers = {
    periodSeconds: wholeSeconds(interval, periodSecondsMax),
    timeoutSeconds: wholeSeconds(timeout, timeoutSecondsMax),
    failureThreshold: Math.min(threshold, thresholdMax),
  };
  const approximated = [
    ...cut('interval', interval, numbers.periodSeconds, 's'),
    ...cut('timeout', timeout, numbers.timeoutSeconds, 's'),
    ...cut('retries', threshold, numbers.failureThreshold, 'failures'),
  ];
  return { kind: 'timed', numbers, approximated };
}

const duration = 'must be a duration, such as 30s';

const isWrong = (read: Read<number>): boolean => read.kind === 'wrong' || (read.kind === 'value' && read.value < 0);

function seconds(given: unknown, otherwise: number): number | undefined {
  if (given === undefined || given === null) return otherwise;
  const found = durationSeconds(given, 'compose');
  return found === 0 ? otherwise : found;
}

const cut = (field: string, written: number, used: number, unit: string): readonly Cut[] =>
  written === used ? [] : [{ field, reason: `has ${field} of ${written} ${unit}, which becomes ${used}` }];
