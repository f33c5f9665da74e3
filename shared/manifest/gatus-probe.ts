/** The headers and numbers of the probe for an endpoint of Gatus. */
import { periodSecondsMax, timeoutSecondsMax } from '../core/limits.ts';
import { durationSeconds, wholeSeconds } from './duration.ts';
import type { Probed } from './gatus-url.ts';
import { isMembers, listOf, type Members, membersOf, numberOf, textOf, valueAt } from './values.ts';

export function withHeaders({ by, handler }: Probed, { headers }: Members): Members {
  const httpHeaders = Object.entries(membersOf(headers)).map(([name, value]) => ({ name, value: String(value) }));
  if (by !== 'httpGet' || httpHeaders.length === 0) return handler;
  return { httpGet: { ...membersOf(handler.httpGet), httpHeaders } };
}

/** Gatus' defaults. */
export const intervalSeconds = 60;
const timeoutSeconds = 10;
const alertThresholds = { failure: 3, success: 2 } as const;

/** The alert whose thresholds the probe gets: the first that is enabled. */
export const alertOf = ({ alerts }: Members): Members | undefined =>
  listOf(alerts)
    .filter(isMembers)
    .find(({ enabled }) => enabled !== false);

/** `bounds`: time-outs that conditions ask for, in seconds. */
export function numbersOf(configuration: Members, endpoint: Members, bounds: readonly number[]): Members {
  const timeout = durationSeconds(valueAt(endpoint, ['client', 'timeout'])) ?? timeoutSeconds;
  const alert = alertOf(endpoint);
  const standard = membersOf(valueAt(configuration, ['alerting', textOf(alert?.type) ?? '', 'default-alert']));
  const threshold = (of: keyof typeof alertThresholds) =>
    numberOf(alert?.[`${of}-threshold`]) ?? numberOf(standard[`${of}-threshold`]) ?? alertThresholds[of];
  return {
    periodSeconds: wholeSeconds(durationSeconds(endpoint.interval) ?? intervalSeconds, periodSecondsMax),
    timeoutSeconds: Math.min(wholeSeconds(timeout, timeoutSecondsMax), ...bounds),
    ...(alert && { failureThreshold: threshold('failure'), successThreshold: threshold('success') }),
  };
}
