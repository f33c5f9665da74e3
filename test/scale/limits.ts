/** How close a fleet is to each limit, and at how many targets it reaches it. Pure. */

import { capacityOf, splitAbove } from '../../shared/core/shards/layout.ts';
import { fleetLimits } from '../../shared/core/shards/quota.ts';
import { bucketCount } from '../../shared/core/shards/slots.ts';
import { probeBytes, targetBytes } from '../../shared/core/shards/weight.ts';
import { probeCpuMs } from '../../shared/core/spec/handler-fields.ts';
import { itemBytesMax } from '../../shared/store/item-size.ts';
import { totalOf } from './counts.ts';
import { functionMb, periodSeconds, syncsMax } from './fleet.ts';
import { type Registering, requestsPerSecond } from './simulate-fleet.ts';
import { type SizedFleet, weighedMaxOf, weighing, weighingMs } from './sizes.ts';

export type LimitRow = {
  readonly what: string;
  readonly value: number;
  readonly max: number;
  readonly unit: string;
  /** Targets at which the limit is reached; absent: it grows with the shards, of which there are at most 256. */
  readonly targets?: number;
};

/**
 * Of AWS, from "Service quotas": a partition of a DynamoDB table, a table on demand, a FIFO queue without high
 * throughput for each kind of call, and the functions of an account that run at once. The last and the table's can be
 * raised.
 */
const aws = { partitionReads: 3_000, partitionWrites: 1_000, tableUnits: 40_000, fifoCalls: 300, concurrency: 1_000 };

/** The prober's largest useful memory: one event loop uses no more than one vCPU. */
const proberMbMax = 1_792;
const timeoutSeconds = 1;

export function limitRows(fleet: SizedFleet): readonly LimitRow[] {
  const { targets, shards, minute, bytes } = fleet;
  const { schedule, prober } = minute;
  const second = (calls = 0) => calls / 60;
  const byTargets = (what: string, value: number, max: number, unit: string): LimitRow => ({
    ...{ what, value, max, unit },
    targets: (targets * max) / value,
  });
  const byShards = (what: string, value: number, max: number, unit: string): LimitRow => ({ what, value, max, unit });
  const readsOf = (site: string) => second(prober.sites.get(site)?.reads) + second(schedule.sites.get(site)?.reads);
  const all = Object.values(minute).map(totalOf);
  const sum = (field: 'reads' | 'writes') => second(all.reduce((total, count) => total + count[field], 0));
  const weighSeconds = weighingMs(fleet.weighMs) / 1_000;
  return [
    byTargets('targets that may be registered (targetsMax)', targets, fleetLimits(proberMbMax).targetsMax, 'targets'),
    byTargets('targets of one bucket, which no split divides', targets / bucketCount, bucketTargetsMax(), 'targets'),
    byShards('shards, of one bucket at least', shards, bucketCount, 'shards'),
    byTargets('weighing one bucket, in one call of the schedule', weighSeconds, weighing.msMax / 1_000, 's'),
    byShards(
      'functions at once, while every shard hands over',
      2 * shards + 2 + syncsMax,
      aws.concurrency,
      'functions',
    ),
    byShards('SQS FIFO, leases extended', second(prober.sites.get('extend')?.calls), aws.fifoCalls, '/s'),
    byShards('LAYOUT, size', bytes.layout / 1_024, itemBytesMax / 1_024, 'KB'),
    byShards('LAYOUT, read units', readsOf('get LAYOUT'), aws.partitionReads, '/s'),
    byShards('CHANGES, read units', readsOf('query CHANGES'), aws.partitionReads, '/s'),
    byTargets('one bucket, read units of its load', fleet.loadUnits / bucketCount, aws.partitionReads, '/s'),
    byTargets('table, read units', sum('reads'), aws.tableUnits, '/s'),
    byTargets('table, write units', sum('writes'), aws.tableUnits, '/s'),
  ];
}

/** With the most memory: as much as a split leaves alone. */
function bucketTargetsMax(): number {
  const { cpu, sockets, memory } = capacityOf(proberMbMax);
  const byCpu = cpu / (probeCpuMs.http / 1_000 / periodSeconds);
  const byMemory = memory / (targetBytes + probeBytes);
  return Math.floor(splitAbove * Math.min(byCpu, byMemory, sockets / (timeoutSeconds / periodSeconds)));
}

/** What limits changes that come at once, each in changes a second. */
export function rates(
  fleet: SizedFleet,
  { each, syncsPerSecond }: Registering,
): readonly (readonly [string, number])[] {
  const weighed = weighedMaxOf(fleet.weighMs);
  const counter = Math.max(1, Math.ceil(fleet.bytes.changes / bucketCount / 1_024));
  return [
    ['registrations, by the write units of CHANGES (one partition)', aws.partitionWrites / (2 * counter)],
    ['registrations, by the write units of a table', aws.tableUnits / writesOf(each)],
    ['requests, by the throttle of the API', requestsPerSecond],
    [`syncs of one target, at least, by ${syncsMax} status-syncs of ${functionMb['status-sync']} MB`, syncsPerSecond],
    ['targets weighed, by the time that the schedule has in a minute', (weighed * fleet.targets) / bucketCount / 60],
  ];
}

const writesOf = (each: Registering['each']): number =>
  Object.values(each).reduce((sum, { writes }) => sum + writes, 0);
