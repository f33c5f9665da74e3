/**
 * The targets of a simulated world: their specs and addresses, and what happens to them. Each incarnation of a target
 * has its own host and each probe its own port, so that the network can attribute each probe.
 */

import type { ContainerInput, ProbeInput, TargetSpecInput } from '../../shared/core/spec/spec-input.ts';
import type { ProbeType } from '../../shared/core/spec/types.ts';
import type { Chance } from './chance.ts';
import type { Endpoint } from './network.ts';

export const namespace = 'sim';

export type ScriptedTarget = {
  readonly name: string;
  readonly namespace: string;
  readonly index: number;
  readonly lifecycle: 'static' | 'reported';
  /** Whether the operator deletes and registers it again, or changes it. */
  readonly fate: 'stays' | 'isRecreated' | 'changes';
  readonly spec: (incarnation: number, chance: Chance) => TargetSpecInput;
};

const restMs: Readonly<Record<ScriptedTarget['fate'], number>> = {
  stays: Number.POSITIVE_INFINITY,
  isRecreated: 12 * 60_000,
  changes: 8 * 60_000,
};

/** Mean time between two deletions, or two changes, of a target. */
export const restMsOf = (fate: ScriptedTarget['fate']): number => restMs[fate];

const typeDigit: Readonly<Record<ProbeType, number>> = { startup: 1, readiness: 2, liveness: 3 };

const hostOf = (index: number, incarnation: number): string => `10.${index}.${incarnation >> 8}.${incarnation & 255}`;

const portOf = (container: number, probeType: ProbeType): number => 8_000 + 10 * container + typeDigit[probeType];

/** The endpoints of all probes that the target's containers can have. */
export function endpointsOf({
  host,
  containers: ordinary = [],
  initContainers = [],
}: TargetSpecInput): readonly Endpoint[] {
  const containers = [...ordinary, ...initContainers].map(({ name }) => Number.parseInt(name.slice(1), 10));
  return containers.flatMap((container) =>
    (['startup', 'readiness', 'liveness'] as const).map((probeType) => `${host}:${portOf(container, probeType)}`),
  );
}

type Timing = Pick<
  ProbeInput,
  'periodSeconds' | 'failureThreshold' | 'successThreshold' | 'timeoutSeconds' | 'initialDelaySeconds'
>;

type Probed = { readonly [probeType in ProbeType]?: Timing };

/** Handlers alternate between TCP, HTTP and gRPC; the network treats them alike. */
function handler(number: number, port: number): Pick<ProbeInput, 'httpGet' | 'tcpSocket' | 'grpc'> {
  if (number % 3 === 0) return { tcpSocket: { port } };
  return number % 3 === 1 ? { httpGet: { port, path: '/' } } : { grpc: { port } };
}

export function container(number: number, probed: Probed, more: Partial<ContainerInput> = {}): ContainerInput {
  const probe = (probeType: ProbeType): ProbeInput | undefined => {
    const timing = probed[probeType];
    return timing && { ...handler(number + typeDigit[probeType], portOf(number, probeType)), ...timing };
  };
  const [startupProbe, readinessProbe, livenessProbe] = [probe('startup'), probe('readiness'), probe('liveness')];
  return {
    name: `c${number}`,
    ...(startupProbe && { startupProbe }),
    ...(readinessProbe && { readinessProbe }),
    ...(livenessProbe && { livenessProbe }),
    ...more,
  };
}

export type Placed = Omit<TargetSpecInput, 'host' | 'lifecycle'>;

type Row = Pick<ScriptedTarget, 'lifecycle' | 'fate'> & { readonly placed: (chance: Chance) => Placed };

export const every = (periodSeconds: number, more: Timing = {}): Timing => ({ periodSeconds, ...more });
const one =
  (probed: Probed, more: Placed = {}) =>
  (): Placed => ({ containers: [container(0, probed)], ...more });

const rowOf =
  (lifecycle: Row['lifecycle']) =>
  (fate: Row['fate'], placed: Row['placed']): Row => ({ lifecycle, fate, placed });
const ofStatic = rowOf('static');
const ofReported = rowOf('reported');

const rows: readonly Row[] = [
  ofStatic('stays', one({ readiness: every(30), liveness: every(20) })),
  ofStatic('stays', one({ readiness: every(5, { failureThreshold: 1, successThreshold: 2 }) })),
  ofStatic('stays', one({ liveness: every(15, { failureThreshold: 2, initialDelaySeconds: 5 }) })),
  ofStatic(
    'stays',
    one({
      startup: every(5, { failureThreshold: 10 }),
      readiness: every(30),
      liveness: every(20, { timeoutSeconds: 3 }),
    }),
  ),
  ofStatic('stays', () => ({
    containers: [container(0, { readiness: every(20) }), container(1, { liveness: every(30) })],
    initContainers: [container(2, { startup: every(10), readiness: every(30) }, { restartPolicy: 'Always' })],
  })),
  ofStatic('isRecreated', one({ liveness: every(20, { failureThreshold: 1 }) }, { restartPolicy: 'Never' })),
  ofStatic('isRecreated', one({ readiness: every(15), liveness: every(30) }, { terminationGracePeriodSeconds: 40 })),
  ofStatic('isRecreated', (chance) => ({
    containers: [
      container(0, chance.happens(0.1) ? {} : { startup: every(10, { failureThreshold: 3 }), readiness: every(15) }),
    ],
  })),
  ofStatic('changes', changing),
  ofStatic('changes', changing),
  ofReported('stays', one({ readiness: every(30), liveness: every(15, { failureThreshold: 2 }) })),
  ofReported('stays', one({ startup: every(5, { failureThreshold: 20 }), readiness: every(15), liveness: every(30) })),
  ofReported('stays', () => ({
    containers: [container(0, { liveness: every(30) }), container(1, { readiness: every(30) })],
  })),
  ofReported('isRecreated', one({ readiness: every(15), liveness: every(15) })),
];

/** A random spec: periods, thresholds and which probes there are. */
function changing(chance: Chance): Placed {
  const timing = () =>
    every(chance.pick([5, 10, 20, 30]), {
      failureThreshold: chance.between(1, 4),
      timeoutSeconds: chance.between(1, 2),
    });
  const probed: Probed = {
    ...(chance.happens(0.8) && { readiness: timing() }),
    ...(chance.happens(0.8) && { liveness: timing() }),
    ...(chance.happens(0.3) && { startup: timing() }),
  };
  return { containers: [container(0, probed)] };
}

export const scriptedTargets: readonly ScriptedTarget[] = rows.map(({ lifecycle, fate, placed }, index) => ({
  name: `t${index}`,
  namespace,
  index,
  lifecycle,
  fate,
  spec: (incarnation, chance) => ({ host: hostOf(index, incarnation), lifecycle, ...placed(chance) }),
}));

/** As many targets of one container whose readiness probe fails at once, each at its own host. */
export const likeTargets = (
  count: number,
  name: string,
  { hostOf, readiness }: { readonly hostOf: (index: number) => string; readonly readiness: Timing },
): readonly ScriptedTarget[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `${name}-${index}`,
    namespace,
    index,
    lifecycle: 'static',
    fate: 'stays',
    spec: () => ({
      host: hostOf(index),
      lifecycle: 'static',
      containers: [container(0, { readiness: { failureThreshold: 1, ...readiness } })],
    }),
  }));
