/**
 * Estimates the monthly cost of a fleet: the number of heartbeats, reads and invocations times the published prices.
 * Pure. Excludes API calls, keys, and the cost when many targets change at once.
 */
import { capacityOf } from '../core/shards/layout.ts';
import { bucketCount, residentSlotMs, tickSlotMs } from '../core/shards/slots.ts';
import { paceFactor } from '../core/shards/tick-plan.ts';
import { probeCpuMs } from '../core/spec/handler-fields.ts';
import {
  type Compute,
  type Fleet,
  type FleetLayout,
  type FleetMode,
  type FleetShard,
  fleetLayout,
  probesPerSecond,
  targetsOf,
  taskSize,
  tasksOf,
} from './fleet.ts';
import { monthSeconds, prices, spotPart } from './prices.ts';
import { natGatewayUsd, type TransferOptions, transferUsd } from './transfer.ts';

export type CostInput = TransferOptions & {
  readonly fleet: Fleet;
  readonly mode: FleetMode;
  /** The prober's memory in MB. */
  readonly memorySize: number;
  /** Defaults to `lambda`. */
  readonly compute?: Compute;
  /** The stack creates these whatever the fleet. An alarm is billed by the metrics that it watches: one each. */
  readonly alarms: number;
  readonly metrics: number;
  readonly dashboard: boolean;
};

/** Alarms of a deployment without a customer key, and those that tasks add: a test compares. */
export const deployedAlarms = 21;
export const taskAlarms = 1;

export type CostLine = { readonly what: string; readonly usd: number };

export type CostEstimate = {
  readonly layout: FleetLayout;
  /** The services, then what the network costs. */
  readonly lines: readonly CostLine[];
  /** The sum of all lines. */
  readonly usd: number;
  /** The network's part of the sum: the same probes from anywhere in AWS cost it, too. */
  readonly transferUsd: number;
  /** The table's capacity units a month that the probers take while no target changes. */
  readonly steadyUnits: { readonly writes: number; readonly reads: number };
};

const monthMinutes = monthSeconds / 60;
const monthHours = monthSeconds / 3_600;

/** Repeats constants of shared/holder, which would bring the whole engine with them; a test compares them. */
export const cadence = {
  beatSeconds: 5,
  changesSeconds: 1.5,
  reloadSeconds: 600,
} as const;

/**
 * The byte sizes and counts below are measured or upper bounds, rounded up. A test counts the units of steady shards
 * and compares.
 */
const readUnitBytes = 4_096;
/** TARGET, STATUS and PROBE of a target with one probe. */
const targetBytes = 3_000;
/** With its event history, as long as a target's may be. */
const storedBytes = 20_000;
const changesItemBytes = 70;
const changesSliceBytes = 6;
const slicesMax = 256;
const layoutShardBytes = 150;
/** Sending, receiving, a few visibility changes, and deletion. */
const requestsPerMessage = 5;
/** Lambda polls a queue with five long polls of 20 s. */
const pollsPerMonth = (5 * monthSeconds) / 20;
/** The poll of a task that holds no shard: repeats a constant of shared/queue/sqs.ts. */
export const taskPollSeconds = 3;
const tickSeconds = tickSlotMs / 1_000;
const tickStartSeconds = 2;
/** Lambda replaces the process of a function that is in use every few hours: assumed more often. */
const processSeconds = 3_600;
const scheduleSeconds = 1.5;
const scheduleGb = 0.25;
const logBytesPerInvocation = 1_000;
/**
 * A change of a result and the status that follows: the commit with its fence, the event and the latest event, the
 * status with its outbox, and the bookkeeping after publication.
 */
const changesPerTargetPerDay = 1;
const perChange = { writes: 14, reads: 8, events: 3, messages: 4, gbSeconds: 0.05 } as const;

/** A task for a month, by Spot, in a public subnet. In a subnet behind a NAT it has no public address. */
const taskUsd =
  monthHours *
  (spotPart * (taskSize.vcpus * prices.fargateVcpuHour.usd + taskSize.gb * prices.fargateGbHour.usd) +
    prices.publicAddressHour.usd);

/** The work of one shard in a month. */
type Work = {
  readonly gbSeconds: number;
  readonly invocations: number;
  readonly fifoRequests: number;
  readonly writes: number;
  readonly reads: number;
};

export function estimateCost(input: CostInput): CostEstimate {
  const layout = fleetLayout(input.fleet, input);
  const work = layout.shards.map((shard) => shardWork(shard, layout, input));
  const total = (of: keyof Work) => work.reduce((sum, one) => sum + one[of], 0);
  const changes = targetsOf(input.fleet) * changesPerTargetPerDay * (monthSeconds / 86_400);
  const schedule = scheduleWork(layout, input.fleet);
  const tasks = input.compute === 'fargate' ? tasksOf(layout) : 0;
  const held =
    tasks > 0 ? { invocations: 0, gbSeconds: 0 } : { invocations: total('invocations'), gbSeconds: total('gbSeconds') };
  const invocations = held.invocations + monthMinutes + changes;
  const gbSeconds = held.gbSeconds + schedule.gbSeconds + changes * perChange.gbSeconds;
  // The function logs its metrics at the end of each run, and a task each minute.
  const logBytes = (invocations + tasks * monthMinutes) * logBytesPerInvocation;
  const polls = Math.max(pollsPerMonth, (tasks * monthSeconds) / taskPollSeconds);
  const transfer = transferLines(input);
  const lines: readonly CostLine[] = [
    ...(tasks > 0 ? [{ what: 'Fargate', usd: tasks * taskUsd }] : []),
    { what: 'Lambda', usd: gbSeconds * prices.lambdaGbSecond.usd + invocations * prices.lambdaRequest.usd },
    {
      what: 'DynamoDB',
      usd:
        (total('writes') + changes * perChange.writes) * prices.dynamodbWrite.usd +
        (total('reads') + schedule.reads + changes * perChange.reads) * prices.dynamodbRead.usd +
        ((targetsOf(input.fleet) * storedBytes) / 1e9) * (prices.dynamodbStoredGb.usd + prices.dynamodbRecoveryGb.usd),
    },
    {
      what: 'SQS',
      usd:
        (total('fifoRequests') + polls) * prices.sqsFifoRequest.usd +
        (changes * perChange.messages + pollsPerMonth) * prices.sqsRequest.usd,
    },
    { what: 'EventBridge', usd: changes * perChange.events * prices.event.usd },
    {
      what: 'CloudWatch',
      usd:
        (input.dashboard ? prices.dashboard.usd : 0) +
        input.alarms * prices.alarm.usd +
        input.metrics * prices.customMetric.usd +
        (logBytes * prices.logGb.usd) / 1e9,
    },
    ...transfer,
  ];
  const steadyUnits = { writes: total('writes'), reads: total('reads') };
  return { layout, lines, usd: sumOf(lines), transferUsd: sumOf(transfer), steadyUnits };
}

const sumOf = (lines: readonly CostLine[]): number => lines.reduce((sum, { usd }) => sum + usd, 0);

/** One gateway, if the way to any target is through one. Each further zone usually has its own. */
function transferLines(input: CostInput): readonly CostLine[] {
  const usd = input.fleet.reduce((sum, part) => sum + transferUsd(part, input), 0);
  const throughNat = input.fleet.some(({ reach, targets }) => reach === 'nat' && targets > 0);
  return [{ what: 'Data transfer', usd }, ...(throughNat ? [{ what: 'NAT gateway', usd: natGatewayUsd }] : [])];
}

function shardWork(shard: FleetShard, layout: FleetLayout, input: CostInput): Work {
  switch (shard.mode) {
    case 'idle':
      return { gbSeconds: 0, invocations: 0, fifoRequests: 0, writes: 0, reads: 0 };
    case 'resident':
      return residentWork(shard, layout, input);
    case 'tick':
      return tickWork(shard, layout, input);
  }
}

function residentWork(shard: FleetShard, layout: FleetLayout, { fleet, memorySize }: CostInput): Work {
  const beats = monthSeconds / cadence.beatSeconds;
  const slots = monthSeconds / (residentSlotMs / 1_000);
  return {
    gbSeconds: (memorySize / 1_024) * monthSeconds,
    invocations: slots,
    fifoRequests: beats + slots * requestsPerMessage,
    writes: beats + slots * (runWrites + claimWrites(shard, fleet)),
    reads:
      beats * layoutUnits(layout) +
      (monthSeconds / cadence.changesSeconds) * (changesUnits(shard.buckets, fleet) / 2) +
      (slots + monthSeconds / cadence.reloadSeconds) * loadUnits(shard, fleet),
  };
}

/**
 * A process that held the same shard last neither loads it nor claims its buckets again. With several shards, a process
 * usually finds another shard's memory, so each tick does both.
 */
function tickWork(shard: FleetShard, layout: FleetLayout, { fleet, memorySize }: CostInput): Work {
  const share = shard.buckets / bucketCount;
  const isAlone = layout.shards.length === 1;
  const loads = isAlone ? monthSeconds / cadence.reloadSeconds : monthMinutes;
  const claims = isAlone ? monthSeconds / processSeconds : monthMinutes;
  const onceAMinute = fleet.map((part) => ({ ...part, periodSeconds: Math.max(tickSeconds, part.periodSeconds) }));
  const cpuSeconds = onceAMinute.reduce(
    (sum, part) => sum + (probesPerSecond(part) * probeCpuMs[part.probe ?? 'http']) / 1_000,
    0,
  );
  const pace = Math.max(paceFactor, 1 / capacityOf(memorySize).cpu);
  const runSeconds = Math.min(tickSeconds, tickStartSeconds + tickSeconds * cpuSeconds * share * pace);
  return {
    gbSeconds: (memorySize / 1_024) * runSeconds * monthMinutes,
    invocations: monthMinutes,
    fifoRequests: monthMinutes * requestsPerMessage,
    writes: monthMinutes * runWrites + claims * claimWrites(shard, fleet),
    reads:
      monthMinutes * (layoutUnits(layout) + changesUnits(shard.buckets, fleet) + 2) + loads * loadUnits(shard, fleet),
  };
}

/** Every minute the schedule reads the state of all shards and buckets. */
function scheduleWork({ shards }: FleetLayout, fleet: Fleet) {
  const reads = layoutUnits({ shards }) + shards.length + 2 * changesUnits(bucketCount, fleet);
  return { gbSeconds: scheduleGb * scheduleSeconds * monthMinutes, reads: reads * monthMinutes };
}

/** LAYOUT's token, and RUN when the run begins and ends. */
const runWrites = 3;

/** A claim writes the EPOCH of each bucket that has targets, in transactions. */
const claimWrites = (shard: FleetShard, fleet: Fleet): number => occupied(shard.buckets, fleet) * 2;

/** The number of buckets that have targets: a hash spreads the targets over all of them. */
const occupied = (buckets: number, fleet: Fleet): number => buckets * (1 - (1 - 1 / bucketCount) ** targetsOf(fleet));

const units = (bytes: number): number => Math.max(1, Math.ceil(bytes / readUnitBytes));

const layoutUnits = ({ shards }: Pick<FleetLayout, 'shards'>): number => units(shards.length * layoutShardBytes);

function changesUnits(buckets: number, fleet: Fleet): number {
  const slices = buckets * Math.min(slicesMax, targetsOf(fleet) / bucketCount);
  return units(occupied(buckets, fleet) * changesItemBytes + slices * changesSliceBytes);
}

/** A query for each bucket that has targets, which rounds up: by half a unit on average. */
const loadUnits = ({ buckets }: FleetShard, fleet: Fleet): number =>
  (targetsOf(fleet) * buckets * targetBytes) / bucketCount / readUnitBytes + occupied(buckets, fleet) / 2;
