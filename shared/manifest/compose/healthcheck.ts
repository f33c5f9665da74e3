/**
 * The healthcheck of a Compose service: the handler that asks the same, if there is one, and the numbers of its probe.
 */

import { periodSecondsMax, thresholdMax, timeoutSecondsMax } from '../../core/spec/limits.ts';
import { handlerOfCommand } from '../command/handler.ts';
import type { Difference } from '../command/reading.ts';
import { durationSeconds, wholeSeconds } from '../duration.ts';
import { isMembers, listOf, type Members } from '../values.ts';
import { orElse, type Read, truthValue, wholeNumber } from './values.ts';

export type Healthcheck =
  | { readonly kind: 'none' }
  /** `handler` from outside the container. */
  | { readonly kind: 'asks'; readonly handler: Members; readonly differences: readonly Difference[] }
  /** No handler is known to ask the same; `reason` says why. `command`: as it runs in the container. */
  | { readonly kind: 'runs'; readonly command: readonly string[]; readonly reason: string }
  /** There is no command to look at. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** @param names hosts that mean the container itself */
export function healthcheckOf(healthcheck: unknown, names: readonly string[]): Healthcheck {
  if (!isMembers(healthcheck) || orElse(truthValue(healthcheck.disable), false)) return { kind: 'none' };
  const { test } = healthcheck;
  const list = typeof test === 'string' ? ['CMD-SHELL', test] : listOf(test).map(String);
  const [form, ...words] = list;
  if (form === 'NONE') return { kind: 'none' };
  if ((form !== 'CMD' && form !== 'CMD-SHELL') || words.length === 0)
    return { kind: 'unknown', reason: 'has a healthcheck whose test is that of the image' };
  // Docker gives further words of CMD-SHELL to the shell, as the script's parameters.
  const command = form === 'CMD' ? words : ['/bin/sh', '-c', ...words];
  // Compose files write `$$` for a dollar.
  const reading = handlerOfCommand(
    command.map((word) => word.replaceAll('$$', '$')),
    names,
  );
  return reading.kind === 'asks' ? reading : { ...reading, command };
}

export type Timing =
  | {
      readonly kind: 'timed';
      readonly numbers: Members;
      /** What a probe cannot have as it is written, by field. */
      readonly approximated: readonly { readonly field: string; readonly reason: string }[];
    }
  | { readonly kind: 'wrong'; readonly field: string; readonly detail: string };

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

const cut = (field: string, written: number, used: number, unit: string) =>
  written === used ? [] : [{ field, reason: `has ${field} of ${written} ${unit}, which becomes ${used}` }];
