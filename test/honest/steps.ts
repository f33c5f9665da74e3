/** What can happen to four targets, two of each lifecycle: plain data, so that failing sequences can be kept. */
import fc from 'fast-check';

export const targetNames = ['static-a', 'static-b', 'reported-a', 'reported-b'] as const;
export type TargetName = (typeof targetNames)[number];

export type Lifecycle = 'static' | 'reported';

/** `proxy` is an init container with restartPolicy Always, a sidecar. The others are ordinary ones. */
export const containerNames = ['app', 'helper', 'proxy'] as const;
export type ContainerName = (typeof containerNames)[number];
export const sidecar: ContainerName = 'proxy';

export const probeTypes = ['startup', 'readiness', 'liveness'] as const;
export type ProbeType = (typeof probeTypes)[number];

/** The finding of a probe. `denied`: by the dial policy; `error`: a prober error, such as a missing secret. */
export type Finding = 'success' | 'failure' | 'denied' | 'error';

/** One probe of a spec; absent: the container has none of that type. */
export type ProbeSpec = {
  readonly periodSeconds: number;
  readonly failureThreshold: number;
  readonly successThreshold: number;
  readonly initialDelaySeconds: number;
};

export type Specs = { readonly [type in ProbeType]?: ProbeSpec };

/** The containers of a target; absent: the target has none of that name. */
export type Shape = { readonly app: Specs; readonly helper?: Specs; readonly proxy?: Specs };

/** The step does nothing if the target does not exist or lacks the container. */
type Of = { readonly target: TargetName; readonly container: ContainerName };

export type Step =
  | { readonly kind: 'put'; readonly target: TargetName; readonly shape: Shape }
  | { readonly kind: 'delete'; readonly target: TargetName }
  /** A deletion with a grace period: until its end the target terminates. */
  | { readonly kind: 'terminate'; readonly target: TargetName; readonly graceSeconds: number }
  | ({ readonly kind: 'find'; readonly type: ProbeType; readonly finding: Finding } & Of)
  | { readonly kind: 'wait'; readonly ms: number }
  /** Of a static target: a restart is reported. Of a reported one: a container of another ID runs. */
  | ({ readonly kind: 'restart' } & Of)
  /** The container of a reported target does not run any more. */
  | ({ readonly kind: 'stop' } & Of)
  /** The last report of a reported target that terminates: how each of its containers ended. */
  | { readonly kind: 'finalize'; readonly target: TargetName; readonly phase: 'Succeeded' | 'Failed' }
  /** All probes of the target are asked for at once. */
  | { readonly kind: 'trigger'; readonly target: TargetName }
  | { readonly kind: 'handOver' }
  | { readonly kind: 'crash' };

const target = fc.constantFrom(...targetNames);
const container = fc.constantFrom<ContainerName>('app', 'app', 'helper', 'proxy');

const probeSpec = (type: ProbeType) =>
  fc.record<ProbeSpec>({
    periodSeconds: fc.integer({ min: 1, max: 4 }),
    failureThreshold: fc.integer({ min: 1, max: 3 }),
    successThreshold: type === 'readiness' ? fc.integer({ min: 1, max: 2 }) : fc.constant(1),
    initialDelaySeconds: fc.constantFrom(0, 0, 6),
  });

const specs = fc.record<Specs>(
  { startup: probeSpec('startup'), readiness: probeSpec('readiness'), liveness: probeSpec('liveness') },
  { requiredKeys: [] },
);

/** Probes of each kind, or a startup probe alone: then that alone decides whether a container is ready. */
const proxySpecs = fc.oneof(specs, fc.record<Specs>({ startup: probeSpec('startup') }));

const shape = fc.record({ app: specs, helper: specs, proxy: proxySpecs }, { requiredKeys: ['app'] });

const kind = <Kind extends Step['kind']>(name: Kind) => fc.constant(name);

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: kind('put'), target, shape }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('delete'), target }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: kind('terminate'), target, graceSeconds: fc.integer({ min: 1, max: 40 }) }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: kind('find'),
      target,
      container,
      type: fc.constantFrom(...probeTypes),
      finding: fc.constantFrom<Finding>('success', 'success', 'failure', 'failure', 'denied', 'error'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kind('wait'), ms: fc.integer({ min: 50, max: 2_500 }) }) },
  { weight: 7, arbitrary: fc.record({ kind: kind('wait'), ms: fc.integer({ min: 1_000, max: 20_000 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('restart'), target, container }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('stop'), target, container }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: kind('finalize'),
      target,
      phase: fc.constantFrom<'Succeeded' | 'Failed'>('Succeeded', 'Failed'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('trigger'), target }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('handOver') }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('crash') }) },
);
