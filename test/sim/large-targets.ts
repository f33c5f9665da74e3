/** The targets of the large worlds: many of few kinds, with long periods, high thresholds and names at their limits among them. */
import { namespaceLengthMax, targetNameLengthMax } from '../../shared/core/limits.ts';
import { nameOfAddress } from './network.ts';
import { container, every, namespace, type Placed, type ScriptedTarget } from './targets.ts';

const largeCount = 2_000;
const tickCount = 120;
const containerNameLengthMax = 63;

type Kind = Pick<ScriptedTarget, 'lifecycle' | 'fate'> & {
  /** Of a hundred targets. */
  readonly share: number;
  readonly placed: () => Placed;
};

const long = (text: string, length: number): string => text.padEnd(length, '-x');
const longName = (text: string, length: number): string => `${long(text, length - 1)}z`;

const tickKinds: readonly Kind[] = [
  { share: 40, lifecycle: 'static', fate: 'stays', placed: () => one({ readiness: every(60) }) },
  { share: 20, lifecycle: 'static', fate: 'stays', placed: () => one({ liveness: every(60), readiness: every(90) }) },
  {
    share: 15,
    lifecycle: 'static',
    fate: 'stays',
    placed: () => one({ readiness: every(300, { timeoutSeconds: 10 }) }),
  },
  { share: 5, lifecycle: 'static', fate: 'stays', placed: () => one({ startup: every(60, { failureThreshold: 30 }) }) },
  {
    share: 10,
    lifecycle: 'reported',
    fate: 'stays',
    placed: () => one({ liveness: every(60, { failureThreshold: 2 }) }),
  },
  { share: 5, lifecycle: 'static', fate: 'isRecreated', placed: () => one({ readiness: every(60) }) },
  {
    share: 5,
    lifecycle: 'static',
    fate: 'stays',
    placed: () => ({
      containers: [
        container(
          0,
          { readiness: every(120, { failureThreshold: 1 }) },
          { name: longName('c0', containerNameLengthMax) },
        ),
      ],
    }),
  },
];

const largeKinds: readonly Kind[] = [
  { share: 48, lifecycle: 'static', fate: 'stays', placed: () => one({ readiness: every(60) }) },
  { share: 12, lifecycle: 'static', fate: 'stays', placed: () => one({ liveness: every(60), readiness: every(30) }) },
  {
    share: 14,
    lifecycle: 'static',
    fate: 'stays',
    placed: () => one({ readiness: every(300, { timeoutSeconds: 10 }) }),
  },
  // Thresholds above 20: the run lengths below them live in the checkpoint.
  {
    share: 3,
    lifecycle: 'static',
    fate: 'stays',
    placed: () => one({ readiness: every(5, { failureThreshold: 25 }) }),
  },
  {
    share: 3,
    lifecycle: 'static',
    fate: 'stays',
    placed: () => one({ readiness: every(10, { failureThreshold: 2, successThreshold: 30 }) }),
  },
  {
    share: 5,
    lifecycle: 'reported',
    fate: 'stays',
    placed: () => one({ liveness: every(60, { failureThreshold: 2 }) }),
  },
  {
    share: 3,
    lifecycle: 'reported',
    fate: 'stays',
    placed: () => one({ startup: every(10, { failureThreshold: 40 }), liveness: every(30) }),
  },
  {
    share: 4,
    lifecycle: 'static',
    fate: 'isRecreated',
    placed: () => one({ liveness: every(60), readiness: every(60) }),
  },
  { share: 3, lifecycle: 'static', fate: 'changes', placed: () => one({ readiness: every(60) }) },
  {
    share: 5,
    lifecycle: 'static',
    fate: 'stays',
    placed: () => ({
      containers: [
        container(0, { readiness: every(60) }, { name: longName('c0', containerNameLengthMax) }),
        container(1, { liveness: every(120) }, { name: longName('c1', containerNameLengthMax) }),
      ],
    }),
  },
];

export const largeTargets: readonly ScriptedTarget[] = targetsOf(largeKinds, largeCount);
export const tickTargets: readonly ScriptedTarget[] = targetsOf(tickKinds, tickCount);

function one(
  ...probed: Parameters<typeof container> extends [number, infer Probed, ...unknown[]] ? [Probed] : never
): Placed {
  return { containers: [container(0, probed[0])] };
}

/** Each kind has its share of every hundred; every tenth target has the longest names that there can be. */
function targetsOf(kinds: readonly Kind[], count: number): readonly ScriptedTarget[] {
  const hundred = kinds.flatMap((kind) => Array<Kind>(kind.share).fill(kind));
  return Array.from({ length: count }, (_, index): ScriptedTarget => {
    // 37 has no common divisor with 100: neighbours are of different kinds.
    const kind = hundred[(index * 37) % hundred.length];
    if (!kind) throw new Error('the shares of the kinds add up to nothing');
    const { lifecycle, fate, placed } = kind;
    const isLong = index % 10 === 9;
    return {
      name: isLong ? longName(`t${index}`, targetNameLengthMax) : `t${index}`,
      namespace: isLong ? longName(namespace, namespaceLengthMax) : namespace,
      index,
      lifecycle,
      fate,
      spec: (incarnation) => ({ host: hostOf(index, incarnation), lifecycle, ...placed() }),
    };
  });
}

/** Every other target has a name, which DNS has to know. */
function hostOf(index: number, incarnation: number): string {
  const address = `10.${index >> 8}.${index & 255}.${incarnation & 255}`;
  return index % 2 === 0 ? address : nameOfAddress(address);
}
