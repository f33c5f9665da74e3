/** The probe for an endpoint of Gatus: its headers, its numbers, and remarks on what it does not do. */
import { periodSecondsMax, thresholdMax, timeoutSecondsMax } from '../../core/spec/limits.ts';
import { durationSeconds, wholeSeconds } from '../duration.ts';
import type { Path, Remark } from '../manifest.ts';
import { isMembers, listOf, type Members, membersOf, numberOf, textOf, valueAt } from '../values.ts';
import { type Divergence, type Endpoint, remarkOf, truthOf, variableIn } from './endpoint.ts';
import type { ProbedUrl } from './url.ts';

export function withHeaders({ by, handler }: ProbedUrl, { headers }: Members): Members {
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

/** @param bounds time-outs that conditions ask for, in seconds */
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

export const requestRemarks = (endpoint: Endpoint, url: ProbedUrl): readonly Remark[] => [
  ...requestOf(endpoint, url).map((each) => remarkOf(endpoint, 'approximated', each)),
  ...timesOf(endpoint).map((each) => remarkOf(endpoint, 'approximated', each)),
  ...alertsOf(endpoint).map((each) => remarkOf(endpoint, 'approximated', each)),
  ...clientRemarks(endpoint, url),
  ...fieldRemarks(endpoint),
];

function requestOf({ value }: Endpoint, url: ProbedUrl): readonly Divergence[] {
  const isVerified = url.isHttps && truthOf(valueAt(value, ['client', 'insecure'])) !== true;
  const sends = url.by === 'tcpSocket' && textOf(value.body) !== undefined;
  return [
    ...(url.approximated === undefined ? [] : [{ reason: url.approximated, at: ['url'] }]),
    ...(value.method === 'HEAD' ? [{ reason: 'asks by HEAD, and is probed by GET', at: ['method'] }] : []),
    ...(isVerified ? [{ reason: 'has its certificate verified, which no probe does', at: ['url'] }] : []),
    ...(sends ? [{ reason: 'sends a body and waits for an answer, where a probe only connects', at: ['body'] }] : []),
    ...(logsIn(value) ? [{ reason: 'logs in, which no probe does', at: ['ssh'], part: 'ssh' }] : []),
  ];
}

export const logsIn = ({ ssh }: Members): boolean =>
  ['username', 'password', 'private-key'].some((field) => textOf(membersOf(ssh)[field]) !== undefined);

function timesOf(endpoint: Endpoint): readonly Divergence[] {
  const { value } = endpoint;
  const [interval, timeout] = [intervalOf(value), timeoutOf(value)];
  const period = wholeSeconds(interval, periodSecondsMax);
  const limit = wholeSeconds(timeout, timeoutSecondsMax);
  const byVariable = (at: Path, used: number): readonly Divergence[] =>
    variableIn(endpoint, at) === undefined
      ? []
      : [{ reason: `has a variable of the environment here, and gets the default of Gatus, ${used} s`, at }];
  return [
    ...byVariable(['interval'], interval),
    ...byVariable(['client', 'timeout'], timeout),
    ...(period === interval
      ? []
      : [{ reason: `has an interval of ${interval} s, and is probed each ${period} s`, at: ['interval'] }]),
    ...(limit === timeout
      ? []
      : [{ reason: `has a time-out of ${timeout} s, which becomes ${limit} s`, at: ['client', 'timeout'] }]),
  ];
}

function alertsOf({ value }: Endpoint): readonly Divergence[] {
  if (alertOf(value) === undefined) return [];
  const reason = 'thresholds are those of the probe; subscribers of its events notify';
  return [{ reason, at: ['alerts'], part: 'alerts' }];
}

/** Fields of the client that change the request, and that a probe does not have. */
const approximatedClient: { readonly [field: string]: string } = {
  'dns-resolver': 'names are resolved by the DNS servers of the prober',
  'ignore-redirect': 'a probe follows redirects to the same host, and takes others as success',
  'store-cookies': 'no probe keeps cookies',
};

const knownClient: ReadonlySet<string> = new Set(['insecure', 'timeout']);

function clientRemarks(endpoint: Endpoint, { by }: ProbedUrl): readonly Remark[] {
  const isHttp = by === 'httpGet';
  return Object.entries(membersOf(endpoint.value.client)).flatMap(([field, value]): readonly Remark[] => {
    if (knownClient.has(field) || truthOf(value) === false) return [];
    const at = ['client', field];
    const reason = Object.hasOwn(approximatedClient, field) ? approximatedClient[field] : undefined;
    if (reason !== undefined && (isHttp || field === 'dns-resolver'))
      return [remarkOf(endpoint, 'approximated', { reason, at, part: field })];
    const ofOthers = field === 'network' || reason !== undefined;
    return [remarkOf(endpoint, 'note', { reason: ofOthers ? ofOtherSchemes : unknownField, at, part: field })];
  });
}

const ofOtherSchemes = 'has no effect on a URL of this scheme';
const unknownField = 'is no field that is known, here or in Gatus';

const otherFields: { readonly [field: string]: string } = {
  'maintenance-windows': 'mutes alerts, and the target is probed all the same',
  ui: 'does not concern probing',
  store: 'is for suites',
  'always-run': 'is for suites',
};

const knownFields: ReadonlySet<string> = new Set([
  ...['enabled', 'name', 'group', 'url', 'method', 'body', 'graphql', 'headers', 'extra-labels', 'interval'],
  ...['conditions', 'alerts', 'dns', 'ssh', 'client'],
]);

const fieldRemarks = (endpoint: Endpoint): readonly Remark[] =>
  Object.keys(endpoint.value)
    .filter((field) => !knownFields.has(field))
    .map((field) => {
      const reason = Object.hasOwn(otherFields, field) ? (otherFields[field] ?? '') : unknownField;
      return remarkOf(endpoint, 'note', { reason, at: [field], part: field });
    });
