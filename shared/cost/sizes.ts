/** What a fleet needs besides its holders: invocations of status-sync, throughput of the table, concurrency. Pure. */
import { type Fleet, type FleetLayout, targetsOf } from './fleet.ts';

/** The time within which status-sync takes in the failure of a whole fleet. */
const withinSeconds = 60;

/** Enough for a small fleet, and leaves the account's concurrency to the probers when many targets change. */
const syncConcurrencyMin = 5;
/** Lambda's limit for a mapping. */
const syncConcurrencyMax = 1_000;
/** Statuses that one invocation computes at 256 MB: `npm run bench:mass`. */
export const syncsPerSecond = 20;

/** How many invocations of status-sync at a time take in the failure of the whole fleet within a minute. */
export function syncConcurrencyOf(fleet: Fleet): number {
  const needed = Math.ceil(targetsOf(fleet) / (syncsPerSecond * withinSeconds));
  return Math.min(syncConcurrencyMax, Math.max(syncConcurrencyMin, needed));
}

export type Throughput = { readonly readUnitsPerSecond: number; readonly writeUnitsPerSecond: number };

/** Source: "Warm throughput" and "On-demand mode" of the DynamoDB Developer Guide. */
export const ofNewTable: Throughput = { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 4_000 };
/**
 * What a fleet needs that fails as one, or whose holders all load their targets: a verdict is the fence, PROBE, the
 * history and the copy of its latest entry, each of up to two kilobytes in a transaction; a target is some ten
 * kilobytes.
 */
const unitsOfProbe = { reads: 3, writes: 12 };

/** The throughput that the table is prepared for, at least that of a new one. */
export function throughputOf(fleet: Fleet): Throughput {
  const probes = fleet.reduce((sum, { targets, probesPerTarget = 1 }) => sum + targets * probesPerTarget, 0);
  const perSecond = (units: number, least: number) => Math.max(least, Math.ceil((probes * units) / withinSeconds));
  return {
    readUnitsPerSecond: perSecond(unitsOfProbe.reads, ofNewTable.readUnitsPerSecond),
    writeUnitsPerSecond: perSecond(unitsOfProbe.writes, ofNewTable.writeUnitsPerSecond),
  };
}

/** The prober function's concurrency: every shard may hand over at once, beside a rescue and a new shard. */
export const proberConcurrencyOf = ({ shards }: Pick<FleetLayout, 'shards'>): number => 2 * shards.length + 2;

/** The schedule, the API, and the least that a mapping of status-sync may have. */
export const otherConcurrency = 4;

/** Concurrent executions of an account that AWS has not raised yet. Source: "Lambda quotas". */
export const newAccountConcurrency = 10;
