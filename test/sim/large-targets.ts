/** The targets of the large worlds: many of few kinds, also with long periods, high thresholds and long names. */
import { namespaceLengthMax, targetNameLengthMax } from '../../shared/core/spec/limits.ts';
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

type Manner = Partial<Pick<Kind, 'lifecycle' | 'fate'>>;

const kind = (share: number, placed: Kind['placed'], { lifecycle = 'static', fate = 'stays' }: Manner = {}): Kind => ({
  ...{ share, lifecycle, fate, placed },
});

const reported = { lifecycle: 'reported' } as const;
const isRecreated = { fate: 'isRecreated' } as const;

const tickKinds: readonly Kind[] = [
  kind(40, () => one({ readiness: every(60) })),
  kind(20, () => one({ liveness: every(60), readiness: every(90) })),
  kind(15, () => one({ readiness: every(300, { timeoutSeconds: 10 }) })),
  kind(5, () => one({ startup: every(60, { failureThreshold: 30 }) })),
  kind(10, () => one({ liveness: every(60, { failureThreshold: 2 }) }), reported),
  kind(5, () => one({ readiness: every(60) }), isRecreated),
  kind(5, () => ({ containers: [longNamed(0, { readiness: every(120, { failureThreshold: 1 }) })] })),
];

const largeKinds: readonly Kind[] = [
  kind(48, () => one({ readiness: every(60) })),
  kind(12, () => one({ liveness: every(60), readiness: every(30) })),
  kind(14, () => one({ readiness: every(300, { timeoutSeconds: 10 }) })),
  // Thresholds above 20: the run lengths below them live in the checkpoint.
  kind(3, () => one({ readiness: every(5, { failureThreshold: 25 }) })),
  kind(3, () => one({ readiness: every(10, { failureThreshold: 2, successThreshold: 30 }) })),
  kind(5, () => one({ liveness: every(60, { failureThreshold: 2 }) }), reported),
  kind(3, () => one({ startup: every(10, { failureThreshold: 40 }), liveness: every(30) }), reported),
  kind(4, () => one({ liveness: every(60), readiness: every(60) }), isRecreated),
  kind(3, () => one({ readiness: every(60) }), { fate: 'changes' }),
  kind(5, () => ({
    containers: [longNamed(0, { readiness: every(60) }), longNamed(1, { liveness: every(120) })],
  })),
];

export const largeTargets: readonly ScriptedTarget[] = targetsOf(largeKinds, largeCount);
export const tickTargets: readonly ScriptedTarget[] = targetsOf(tickKinds, tickCount);

type ProbesOf = Parameters<typeof container>[1];

function one(probed: ProbesOf): Placed {
  return { containers: [container(0, probed)] };
}

function longNamed(index: number, probed: ProbesOf) {
  return container(index, probed, { name: longName(`c${index}`, containerNameLengthMax) });
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
