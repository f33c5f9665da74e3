/** The headers and numbers of the probe for an endpoint of Gatus. */
import { periodSecondsMax, thresholdMax, timeoutSecondsMax } from '../../core/spec/limits.ts';
import { durationSeconds, wholeSeconds } from '../duration.ts';
import { isMembers, listOf, type Members, membersOf, numberOf, textOf, valueAt } from '../values.ts';
import type { Probed } from './url.ts';
import { truthOf } from './values.ts';

export function withHeaders({ by, handler }: Probed, { headers }: Members): Members {
  const httpHeaders = Object.entries(membersOf(headers)).map(([name, value]) => ({ name, value: String(value) }));
  if (by !== 'httpGet' || httpHeaders.length === 0) return handler;
  return { httpGet: { ...membersOf(handler.httpGet), httpHeaders } };
}

/** Gatus' defaults, which a zero stands for, too. */
const intervalSeconds = 60;
const timeoutSeconds = 10;
const timeoutSecondsMin = 0.001;
const alertThresholds = { failure: 3, success: 2 } as const;

/** The alert whose thresholds the probe gets: the first that is enabled. */
export const alertOf = ({ alerts }: Members): Members | undefined =>
  listOf(alerts)
    .filter(isMembers)
    .find(({ enabled }) => truthOf(enabled) !== false);

export const intervalOf = ({ interval }: Members): number => durationSeconds(interval) || intervalSeconds;

export function timeoutOf(endpoint: Members): number {
  const timeout = durationSeconds(valueAt(endpoint, ['client', 'timeout'])) ?? 0;
  return timeout < timeoutSecondsMin ? timeoutSeconds : timeout;
}

/** `bounds`: time-outs that conditions ask for, in seconds. */
export function numbersOf(configuration: Members, endpoint: Members, bounds: readonly number[]): Members {
  const alert = alertOf(endpoint);
  const standard = membersOf(valueAt(configuration, ['alerting', textOf(alert?.type) ?? '', 'default-alert']));
  const threshold = (of: keyof typeof alertThresholds) => {
    const written = [alert, standard].map((each) => numberOf(each?.[`${of}-threshold`]) ?? 0);
    return Math.min(written.find((each) => each > 0) ?? alertThresholds[of], thresholdMax);
  };
  return {
    periodSeconds: wholeSeconds(intervalOf(endpoint), periodSecondsMax),
    timeoutSeconds: Math.min(wholeSeconds(timeoutOf(endpoint), timeoutSecondsMax), ...bounds),
    ...(alert && { failureThreshold: threshold('failure'), successThreshold: threshold('success') }),
  };
}
