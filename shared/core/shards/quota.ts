/**
 * The quotas: limits, present usage, and growth of a change. Only growth is refused; a change that reduces usage is
 * always allowed.
 */

import { probeCpuMs } from '../spec/handler-fields.ts';
import type { TargetRecord } from '../spec/records.ts';
import { capacityOf, splitAbove } from './layout.ts';
import { bucketCount } from './slots.ts';
import { weightOf } from './weight.ts';

export type QuotaLimits = {
  readonly targetsMax: number;
  readonly targetsPerNamespaceMax: number;
  /** In HTTP probes: by weight an HTTPS probe counts as 4, gRPC as 1.6, TCP as 0.4, a command as 20. */
  readonly probesPerSecondMax: number;
};

/** `cpu`: a share of one vCPU, as in weights. */
export type Usage = {
  readonly targets: number;
  readonly targetsOf: (namespace: string) => number;
  readonly cpu: number;
};

/** What a change adds; negative where it removes. */
export type Growth = { readonly namespace: string; readonly targets: number; readonly cpu: number };

export type Excess = {
  readonly limit: keyof QuotaLimits;
  readonly max: number;
  readonly now: number;
  readonly asked: number;
};

export type Quotas = {
  /** Reserves the growth of the target with this key prefix, or returns the limit that it would exceed. */
  take(prefix: string, growth: Growth): Promise<Admission>;
};

export type Admission =
  /** `end`: to be called once it is known whether the change was stored. */
  | { readonly kind: 'taken'; readonly end: (isStored: boolean) => void }
  | { readonly kind: 'exceeded'; readonly excess: Excess };

/**
 * Limits of one process: twice the targets of the largest measured mass event (`npm run bench:mass`), and the probes
 * that a present server's CPU serves with some to spare (`npm run bench -- --only scale`).
 */
export const processLimits: QuotaLimits = {
  targetsMax: 20_000,
  targetsPerNamespaceMax: 20_000,
  probesPerSecondMax: 4_000,
};

/** Limits of a fleet: of so many shards, by default as many as there are buckets, each as full as the layout allows. */
export const fleetLimits = (megabytes: number, shards: number = bucketCount): QuotaLimits => ({
  targetsMax: 1_000_000,
  targetsPerNamespaceMax: 1_000_000,
  probesPerSecondMax: Math.floor(shards * splitAbove * probesPerSecond(capacityOf(megabytes).cpu)),
});

/** A limit of the whole also limits each namespace, unless the namespace limit is given. */
export const withLimits = (defaults: QuotaLimits, given: Partial<QuotaLimits>): QuotaLimits => ({
  ...defaults,
  ...(given.targetsMax !== undefined && { targetsPerNamespaceMax: given.targetsMax }),
  ...given,
});

/** HTTP probes a second that take this share of a vCPU. */
const probesPerSecond = (cpu: number): number => (cpu * 1_000) / probeCpuMs.http;

export function growthOf(before: TargetRecord | undefined, after: TargetRecord | undefined): Growth {
  return {
    namespace: (after ?? before)?.namespace ?? '',
    targets: Number(after !== undefined) - Number(before !== undefined),
    cpu: cpuOf(after) - cpuOf(before),
  };
}

const cpuOf = (target: TargetRecord | undefined): number => (target ? weightOf([target.spec]).cpu : 0);

export const isGrowth = ({ targets, cpu }: Growth): boolean => targets > 0 || cpu > 0;

/** The usage with the growths added. */
export function withGrowths({ targets, targetsOf, cpu }: Usage, growths: readonly Growth[]): Usage {
  const sum = (of: (growth: Growth) => number) => growths.reduce((total, growth) => total + of(growth), 0);
  return {
    targets: targets + sum((growth) => growth.targets),
    targetsOf: (name) => targetsOf(name) + sum(({ namespace, targets }) => (namespace === name ? targets : 0)),
    cpu: cpu + sum((growth) => growth.cpu),
  };
}

/** The first limit that would be exceeded. */
export function excessOf(limits: QuotaLimits, usage: Usage, { namespace, targets, cpu }: Growth): Excess | undefined {
  const asked: readonly (readonly [limit: keyof QuotaLimits, now: number, asked: number])[] = [
    ['targetsMax', usage.targets, targets],
    ['targetsPerNamespaceMax', usage.targetsOf(namespace), targets],
    ['probesPerSecondMax', probesPerSecond(usage.cpu), probesPerSecond(cpu)],
  ];
  const exceeded = asked.find(([limit, now, more]) => more > 0 && rounded(now + more) > limits[limit]);
  if (!exceeded) return undefined;
  const [limit, now, more] = exceeded;
  return { limit, max: limits[limit], now: rounded(now), asked: rounded(more) };
}

/** Sums of fractions are not exact. */
const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;
