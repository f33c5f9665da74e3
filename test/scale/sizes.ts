/** The size of a fleet that is too large to simulate, from that of a simulated one. */
import { bucketCount, residentSlotMs } from '../../shared/core/shards/slots.ts';
import { itemBytes } from '../../shared/store/item-size.ts';
import { changeCounted } from '../../shared/store/records/items.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { functionMb, minuteMs, plannedFleet, vcpuMb } from './fleet.ts';
import { grown, type Size } from './growth.ts';
import type { SimulatedFleet } from './simulate-fleet.ts';

/** As shared/schedule/weights.ts. */
export const weighing = { msMax: 20_000, bucketsMax: 64 } as const;

export const slotMinutes = residentSlotMs / minuteMs;
/** Each slot begins with a load by its holder, and has another one after ten minutes. */
export const loadsPerSlot = 2;

/** A fleet of one size: a minute of its life, and what it stores. */
export type SizedFleet = Omit<SimulatedFleet, 'minutes' | 'registering' | 'listing' | 'problems'> & {
  readonly isSimulated: boolean;
};

export const sizeOf = ({ targets, shards, bytes, weighMs }: Omit<SizedFleet, 'minute' | 'isSimulated'>): Size => ({
  targets,
  shards,
  layout: bytes.layout,
  changes: bytes.changes,
  weighMs,
  weighedMax: weighedMaxOf(weighMs),
});

/** Buckets that the schedule weighs in one minute. */
export const weighedMaxOf = (weighMs: number): number =>
  Math.min(weighing.bucketsMax, Math.max(1, Math.floor(weighing.msMax / weighingMs(weighMs))));

/** How long the schedule takes for one bucket. */
export const weighingMs = (weighMs: number): number => (weighMs * vcpuMb) / functionMb.schedule;

export function calculatedFleet(from: SizedFleet, targets: number): SizedFleet {
  const { memorySize, layout } = plannedFleet(targets);
  const shards = layout.shards.length;
  const times = targets / from.targets;
  const unsized = {
    targets,
    memorySize,
    shards,
    loadUnits: from.loadUnits * times,
    weighMs: from.weighMs * times,
    bytes: {
      layout: (from.bytes.layout / from.shards) * shards,
      changes: Math.max(from.bytes.changes, changesBytes(targets)),
      weights: from.bytes.weights,
    },
  };
  return { ...unsized, isSimulated: false, minute: grown(from.minute, sizeOf(from), sizeOf(unsized)) };
}

const slices = 256;
/** A registration adds to its counter before and after. */
const countsPerTarget = 2;

/** As hashes spread the targets over the slices. */
function changesBytes(targets: number): number {
  const { key, set } = changeCounted(targetAddress('default', 'any'));
  const used = Math.round(slices * (1 - Math.exp(-targets / bucketCount / slices)));
  const count = Math.ceil((countsPerTarget * targets) / bucketCount / slices);
  const counters = Object.fromEntries(Array.from({ length: used }, (_, at) => [sliceName(at), count]));
  return bucketCount * itemBytes({ ...key, ...set, ...counters, targetsAdded: targets / bucketCount, cpuAdded: 0.125 });
}

const sliceName = (at: number): string => at.toString(16).padStart(2, '0');
