/** What can happen to two targets, one of each lifecycle: plain data, so that a failing sequence is printed as it is and shrinks. */
import fc from 'fast-check';

export const lifecycles = ['static', 'reported'] as const;
export type Lifecycle = (typeof lifecycles)[number];

export const probeTypes = ['startup', 'readiness', 'liveness'] as const;
export type ProbeType = (typeof probeTypes)[number];

/** What a probe finds from now on. `denied`: the dial policy forbids it; `error`: a prober error, such as a missing secret. */
export type Finding = 'success' | 'failure' | 'denied' | 'error';

/** One probe of a spec; absent: the container has none of that type. */
export type ProbeSpec = {
  readonly periodSeconds: number;
  readonly failureThreshold: number;
  readonly successThreshold: number;
  readonly initialDelaySeconds: number;
};

export type Specs = { readonly [type in ProbeType]?: ProbeSpec };

export type Step =
  | { readonly kind: 'put'; readonly lifecycle: Lifecycle; readonly specs: Specs }
  | { readonly kind: 'delete'; readonly lifecycle: Lifecycle }
  | { readonly kind: 'find'; readonly lifecycle: Lifecycle; readonly type: ProbeType; readonly finding: Finding }
  | { readonly kind: 'wait'; readonly seconds: number }
  /** Of the static target: a restart is reported. Of the reported one: a container of another ID runs. */
  | { readonly kind: 'restart'; readonly lifecycle: Lifecycle }
  /** The reported container does not run any more. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'handOver' }
  | { readonly kind: 'crash' };

const lifecycle = fc.constantFrom(...lifecycles);

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

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('put' as const), lifecycle, specs }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), lifecycle }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('find' as const),
      lifecycle,
      type: fc.constantFrom(...probeTypes),
      finding: fc.constantFrom<Finding>('success', 'success', 'failure', 'failure', 'denied', 'error'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart' as const), lifecycle }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('handOver' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
);
