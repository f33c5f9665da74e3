/**
 * How each kind of call grows with a fleet: with its targets, its shards or its buckets, and how many capacity units it
 * then takes. From the counts of a simulated fleet it calculates those of a larger one. Pure.
 */
import { bucketCount } from '../../shared/core/shards/slots.ts';
import { type Component, type ComponentCounts, type Count, type Counts, mapComponents } from './counts.ts';

/**
 * `layout`, `changes`: bytes of LAYOUT, and of all CHANGES items together. `weighMs`: CPU of the schedule for one
 * bucket, ms of one vCPU; `weighedMax`: buckets a minute.
 */
export type Size = {
  readonly targets: number;
  readonly shards: number;
  readonly layout: number;
  readonly changes: number;
  readonly weighMs: number;
  readonly weighedMax: number;
};

type Growth = (size: Size) => number;

/** `units`: of one call. */
type Rule = { readonly calls: Growth; readonly units: Growth };

const readUnitBytes = 4_096;
const writeUnitBytes = 1_024;

const constant: Growth = () => 1;
const byShards: Growth = ({ shards }) => shards;
const byTargets: Growth = ({ targets }) => targets;
const units = (bytes: number, of: number): number => Math.max(1, Math.ceil(bytes / of));
const layoutReads: Growth = ({ layout }) => units(layout, readUnitBytes);
const layoutWrites: Growth = ({ layout }) => units(layout, writeUnitBytes);
const allChanges: Growth = ({ changes }) => units(changes, readUnitBytes);
const ownChanges: Growth = ({ changes, shards }) => units(changes / shards, readUnitBytes);
const weighed: Growth = ({ targets, weighedMax }) =>
  Math.min(weighedMax, bucketCount * (1 - Math.exp(-putsIn(targets) / bucketCount)));

/** As the simulated fleets have them: one a week and target. */
const putsIn = (targets: number): number => targets / (7 * 24 * 60);

const perShard: Rule = { calls: byShards, units: constant };
const once: Rule = { calls: constant, units: constant };
const counted: Rule = { calls: byTargets, units: ({ changes }) => units(changes / bucketCount, writeUnitBytes) };

/** How the prober reads a bucket, and the schedule when it weighs it. */
export const loadSite = 'query bucket';

/** What is missing here is done for each change of a target. */
const rules: Readonly<Partial<Record<Component, Readonly<Record<string, Rule>>>>> = {
  api: { 'write CHANGES': counted },
  prober: {
    extend: perShard,
    acknowledge: perShard,
    'get RUN': perShard,
    'write RUN': perShard,
    'get LAYOUT': { calls: byShards, units: layoutReads },
    'write LAYOUT': { calls: byShards, units: layoutWrites },
    'query CHANGES': { calls: byShards, units: ownChanges },
    'get EPOCH': once,
    'write EPOCH': once,
    [loadSite]: { calls: constant, units: byTargets },
    'write EPOCH+CHECKPOINT': { calls: byTargets, units: constant },
    'probe http': { calls: byTargets, units: constant },
  },
  schedule: {
    'get LAYOUT': { calls: constant, units: layoutReads },
    'get NOHOLDER': once,
    'get RUN': perShard,
    send: perShard,
    'query CHANGES': { calls: constant, units: allChanges },
    'query WEIGHT': once,
    [loadSite]: { calls: weighed, units: byTargets },
    'write WEIGHT': { calls: weighed, units: constant },
  },
};

const ofChanges: Rule = { calls: byTargets, units: constant };

const ruleOf = (component: Component, site: string): Rule => rules[component]?.[site] ?? ofChanges;

/** Whether calls of this kind are made because a target or its result has changed. */
export function isOfChanges(component: Component, site: string): boolean {
  const rule = ruleOf(component, site);
  return rule === ofChanges || rule === counted || rule.calls === weighed;
}

/** The minute of a fleet of size `to`, from that of one of size `from`. */
export function grown(minute: Counts, from: Size, to: Size): Counts {
  const grow = (of: Growth) => of(to) / of(from);
  const counts = (component: Component): ComponentCounts => {
    const { sites, cpuMs, readBytesMax } = minute[component];
    const all = [...sites].map(([site, { calls, reads, writes }]): [string, Count] => {
      const rule = ruleOf(component, site);
      const [times, each] = [grow(rule.calls), grow(rule.units)];
      return [site, { calls: calls * times, reads: reads * times * each, writes: writes * times * each }];
    });
    const isOfBuckets = component === 'schedule' || component === 'prober';
    return {
      sites: new Map(all),
      cpuMs: component === 'schedule' ? scheduleCpuMs(minute.schedule, from, to) : cpuMs * grow(byTargets),
      readBytesMax: isOfBuckets ? readBytesMax * grow(byTargets) : readBytesMax,
    };
  };
  return mapComponents(counts);
}

/** Without the weighing it grows with the messages and the RUN items. */
function scheduleCpuMs({ cpuMs, sites }: ComponentCounts, from: Size, to: Size): number {
  const now = (sites.get(loadSite)?.calls ?? 0) * from.weighMs;
  const then = (now / from.weighMs / weighed(from)) * weighed(to) * to.weighMs;
  return Math.max(0, cpuMs - now) * (to.shards / from.shards) + then;
}
