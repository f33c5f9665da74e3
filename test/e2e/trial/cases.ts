/** What is tried: a service, a fault, and the probes of the target that watches it. One row, one target. */

import type { ProbesInput } from '../../../shared/core/spec/spec-input.ts';
import type { ProbeType } from '../../../shared/core/spec/types.ts';
import { app, grpc, haproxy, https, nginx, postgres, redis, type Service, type StartService } from './services.ts';

export type ProbeRow = {
  readonly type: ProbeType;
  /** A handler of the service. */
  readonly asks: string;
  readonly periodSeconds: number;
  readonly failureThreshold: number;
  readonly successThreshold: number;
  readonly timeoutSeconds: number;
  /** Succeeds during the fault as before: the kernel accepts connections for a process that stands still, for one. */
  readonly isSpared: boolean;
};

export type Row = {
  readonly name: string;
  readonly service: StartService;
  readonly fault: string;
  readonly probes: readonly ProbeRow[];
};

type Options = Partial<Pick<ProbeRow, 'timeoutSeconds' | 'isSpared'>>;
/** A period and the thresholds, as `2 s, 3 failures, 1 success`. */
type Pace = readonly [periodSeconds: number, failureThreshold: number, successThreshold?: number];

const probe =
  (type: ProbeType) =>
  (asks: string, [periodSeconds, failureThreshold, successThreshold = 1]: Pace, options: Options = {}): ProbeRow => ({
    ...{ type, asks, periodSeconds, failureThreshold, successThreshold },
    ...{ timeoutSeconds: 1, isSpared: false, ...options },
  });

const readiness = probe('readiness');
const liveness = probe('liveness');
/** Startup probes are not made again once they have succeeded. */
const startup = (asks: string, pace: Pace) => probe('startup')(asks, pace, { isSpared: true });
const spared = { isSpared: true } as const;
const patient = { timeoutSeconds: 2 } as const;

const row = (name: string, service: StartService, fault: string, ...probes: readonly ProbeRow[]): Row => ({
  ...{ name, service, fault, probes },
});

export const rows: readonly Row[] = [
  row('nginx-stop', nginx, 'stop', startup('get', [1, 3]), readiness('get', [1, 3]), liveness('get', [2, 3])),
  row('nginx-pause', nginx, 'pause', readiness('get', [2, 2, 2]), liveness('get', [5, 1])),
  row('nginx-503', nginx, '503', readiness('get', [1, 1, 3]), liveness('get', [2, 2])),
  row('nginx-drained', nginx, 'drained', readiness('getReady', [1, 2, 2]), liveness('get', [1, 1], spared)),
  row('haproxy-stop', haproxy, 'stop', readiness('get', [5, 1])),
  row('haproxy-pause', haproxy, 'pause', liveness('get', [2, 3])),
  row('haproxy-backend-stop', haproxy, 'backend stop', startup('get', [2, 3]), readiness('get', [1, 3, 2])),
  row(
    'haproxy-backend-pause',
    haproxy,
    'backend pause',
    readiness('get', [2, 2], patient),
    liveness('connect', [2, 1], spared),
  ),
  row('redis-stop', redis, 'stop', readiness('connect', [1, 3]), liveness('connect', [1, 2])),
  row('redis-pause', redis, 'pause', readiness('ping', [2, 1]), liveness('connect', [2, 3], spared)),
  row('postgres-stop', postgres, 'stop', readiness('connect', [2, 2, 3]), liveness('isReady', [5, 1])),
  row('postgres-pause', postgres, 'pause', readiness('isReady', [5, 1, 2]), liveness('connect', [5, 1], spared)),
  row('grpc-not-serving', grpc, 'not serving', readiness('check', [1, 2, 2]), liveness('check', [2, 3])),
  row('grpc-liveness', grpc, 'not serving', startup('check', [1, 3]), liveness('check', [1, 1])),
  row('https-no-certificate', https, 'no certificate', readiness('get', [1, 3]), liveness('get', [5, 1])),
  // As in kubelet no probe verifies a certificate.
  row(
    'https-wrong-certificate',
    https,
    'wrong certificate',
    readiness('get', [1, 1], spared),
    liveness('get', [1, 1], spared),
  ),
  row('app-503', app, '503', startup('get', [1, 1]), liveness('get', [1, 1])),
  row('app-503-readiness', app, '503', readiness('get', [2, 2, 3])),
  row('app-hang', app, 'hang', startup('get', [1, 2]), readiness('get', [1, 1, 3]), liveness('get', [2, 2])),
  row('app-slow', app, 'slow', liveness('get', [5, 1])),
];

/** The probes as they are registered. */
export function probesOf({ probes }: Row, { handlers }: Service): ProbesInput {
  const entries = probes.map(({ type, asks, isSpared: _, ...pace }) => {
    const handler = handlers[asks];
    if (handler === undefined) throw new Error(`no handler ${asks}`);
    return [`${type}Probe`, { ...handler, ...pace }] as const;
  });
  return Object.fromEntries(entries);
}

const slackSeconds = 2;

/** From the fault until the result is failure. */
export const failureSeconds = ({ failureThreshold, periodSeconds, timeoutSeconds }: ProbeRow): number =>
  failureThreshold * periodSeconds + timeoutSeconds + slackSeconds;

/** From the recovery until the result is success. */
export const successSeconds = ({ successThreshold, periodSeconds }: ProbeRow): number =>
  (1 + successThreshold) * periodSeconds + slackSeconds;

/** For so long a probe may not have been counted. */
export const uncountedSeconds = ({ periodSeconds, timeoutSeconds }: ProbeRow): number =>
  2 * periodSeconds + timeoutSeconds + slackSeconds;

/** The probes that make the target not Ready during the fault: readiness, or else liveness and startup. */
export function deciding({ probes }: Row): readonly ProbeRow[] {
  const hasReadiness = probes.some(({ type }) => type === 'readiness');
  return probes.filter(({ type, isSpared }) => !isSpared && (!hasReadiness || type === 'readiness'));
}

/** From the recovery until the target is Ready. */
export const readySeconds = (row: Row): number => Math.max(0, ...deciding(row).map(successSeconds));

/** From the recovery until every result is success. */
export const recoverySeconds = ({ probes }: Row): number =>
  Math.max(0, ...probes.filter(({ isSpared }) => !isSpared).map(successSeconds));
