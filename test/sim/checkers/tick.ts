/** Tick mode, as RUN shows it. */

import { epochKey, runKey, type TargetAddress } from '../../../shared/store/records/keys.ts';
import type { EpochRecord, RunRecord } from '../../../shared/store/records/shard-records.ts';
import type { Probed } from '../ledger.ts';
import type { Facts } from './checker.ts';

/** A run of tick mode a minute. */
export const tickSlotMs = 60_000;

export function isTick({ table }: Pick<Facts, 'table'>, { bucket }: TargetAddress): boolean {
  const epoch = table.get(epochKey(bucket)) as EpochRecord | undefined;
  const run = epoch && (table.get(runKey(epoch.shard)) as RunRecord | undefined);
  return run?.tick === true;
}

/** A minute's run begins when its schedule does, and a container that has not held the shard before loads it first. */
const beginsWithinMs = 10_000;

/** The time between two probes of a worker: its period, in tick mode rounded up to whole minutes. */
export function spacingMs(facts: Pick<Facts, 'table'>, { address, probe }: Probed): number {
  const periodMs = probe.probe.periodSeconds * 1000;
  return isTick(facts, address) ? Math.ceil(periodMs / tickSlotMs) * tickSlotMs + beginsWithinMs : periodMs;
}
