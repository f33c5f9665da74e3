/**
 * The targets of a simulated world: what is registered, under which addresses, and who plays their containers. Each incarnation of a
 * target has a host of its own and each probe a port of its own, so that the network knows whose probe it saw.
 */
import type { ContainerInput, ProbeInput, TargetSpecInput } from '../../shared/core/spec-input.ts';
import type { ProbeType } from '../../shared/core/types.ts';
import type { Chance } from './chance.ts';
import type { Endpoint } from './network.ts';

export const namespace = 'sim';

export type ScriptedTarget = {
  readonly name: string;
  readonly namespace: string;
  readonly index: number;
  readonly lifecycle: 'static' | 'reported';
  /** What is done to it beside being probed. */
  readonly fate: 'stays' | 'isRecreated' | 'changes';
  readonly spec: (incarnation: number, chance: Chance) => TargetSpecInput;
};

const restMs: Readonly<Record<ScriptedTarget['fate'], number>> = {
  stays: Number.POSITIVE_INFINITY,
  isRecreated: 12 * 60_000,
  changes: 8 * 60_000,
};

/** How long a target that is re-created, or changed, is left alone on the average. */
export const restMsOf = (fate: ScriptedTarget['fate']): number => restMs[fate];

const typeDigit: Readonly<Record<ProbeType, number>> = { startup: 1, readiness: 2, liveness: 3 };

const hostOf = (index: number, incarnation: number): string => `10.${index}.${incarnation >> 8}.${incarnation & 255}`;

const portOf = (container: number, probeType: ProbeType): number => 8_000 + 10 * container + typeDigit[probeType];

/** Every probe that the target's containers may have. */
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

/** The kinds of handler take turns; to the network they are the same. */
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

const rows: readonly Row[] = [
  { lifecycle: 'static', fate: 'stays', placed: one({ readiness: every(30), liveness: every(20) }) },
  {
    lifecycle: 'static',
    fate: 'stays',
    placed: one({ readiness: every(5, { failureThreshold: 1, successThreshold: 2 }) }),
  },
  {
    lifecycle: 'static',
    fate: 'stays',
    placed: one({ liveness: every(15, { failureThreshold: 2, initialDelaySeconds: 5 }) }),
  },
  {
    lifecycle: 'static',
    fate: 'stays',
    placed: one({
      startup: every(5, { failureThreshold: 10 }),
      readiness: every(30),
      liveness: every(20, { timeoutSeconds: 3 }),
    }),
  },
  {
    lifecycle: 'static',
    fate: 'stays',
    placed: () => ({
      containers: [container(0, { readiness: every(20) }), container(1, { liveness: every(30) })],
      initContainers: [container(2, { startup: every(10), readiness: every(30) }, { restartPolicy: 'Always' })],
    }),
  },
  {
    lifecycle: 'static',
    fate: 'isRecreated',
    placed: one({ liveness: every(20, { failureThreshold: 1 }) }, { restartPolicy: 'Never' }),
  },
  {
    lifecycle: 'static',
    fate: 'isRecreated',
    placed: one({ readiness: every(15), liveness: every(30) }, { terminationGracePeriodSeconds: 40 }),
  },
  {
    lifecycle: 'static',
    fate: 'isRecreated',
    placed: (chance) => ({
      containers: [
        container(0, chance.happens(0.1) ? {} : { startup: every(10, { failureThreshold: 3 }), readiness: every(15) }),
      ],
    }),
  },
  { lifecycle: 'static', fate: 'changes', placed: (chance) => changing(chance) },
  { lifecycle: 'static', fate: 'changes', placed: (chance) => changing(chance) },
  {
    lifecycle: 'reported',
    fate: 'stays',
    placed: one({ readiness: every(30), liveness: every(15, { failureThreshold: 2 }) }),
  },
  {
    lifecycle: 'reported',
    fate: 'stays',
    placed: one({ startup: every(5, { failureThreshold: 20 }), readiness: every(15), liveness: every(30) }),
  },
  {
    lifecycle: 'reported',
    fate: 'stays',
    placed: () => ({ containers: [container(0, { liveness: every(30) }), container(1, { readiness: every(30) })] }),
  },
  { lifecycle: 'reported', fate: 'isRecreated', placed: one({ readiness: every(15), liveness: every(15) }) },
];

/** Another period, other thresholds, a probe more or less. */
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
