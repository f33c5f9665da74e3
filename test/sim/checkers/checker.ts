/** A checker observes the product from outside and reports violations of an invariant (docs/testing.md). */
import type { ProbeRecord, ReportRecord, StatusRecord } from '../../../shared/core/spec/records.ts';
import { probeName } from '../../../shared/core/spec/spec.ts';
import { reportKey, statusKey } from '../../../shared/store/records/keys.ts';
import type { Published } from '../bus.ts';
import type { Asked, SeenAnswer } from '../client.ts';
import type { FaultLog } from '../fault-log.ts';
import type { DoneFault, Profile } from '../faults.ts';
import type { Ledger, Probed } from '../ledger.ts';
import type { Network, ProbeStart, SeenProbe } from '../network.ts';
import { staticContainer } from '../oracle/container-id.ts';
import type { WokenSchedule } from '../schedule.ts';
import type { AppliedWrite, Table } from '../table.ts';
import type { StartedRun } from '../world.ts';

export type Watch = {
  readonly applied?: (write: AppliedWrite) => void;
  readonly published?: (published: Published) => void;
  readonly answered?: (answer: SeenAnswer) => void;
  readonly asked?: (asked: Asked, sentMs: number) => void;
  /** A worker's probe. */
  readonly probeStarted?: (start: ProbeStart) => void;
  readonly probeSeen?: (probe: SeenProbe) => void;
  readonly probeAbandoned?: (start: ProbeStart) => void;
  /** A probe of a look: of the run that asked for it, or of the process that gives it. */
  readonly lookStarted?: (start: ProbeStart) => void;
  readonly lookSeen?: (probe: SeenProbe) => void;
  readonly lookAbandoned?: (start: ProbeStart) => void;
  readonly faultDone?: (fault: DoneFault) => void;
  readonly runStarted?: (run: StartedRun) => void;
  readonly scheduleWoken?: (woken: WokenSchedule) => void;
  /** Every ten seconds. */
  readonly ticked?: () => void;
  /** No fault has happened for a third of an hour. */
  readonly settled?: () => void;
};

export type Facts = {
  readonly ledger: Ledger;
  readonly table: Table;
  readonly network: Network;
  readonly profile: Profile;
  readonly nowMs: () => number;
  readonly faults: FaultLog;
  /** Of the table, by whether it had capacity for them. */
  readonly calls: { readonly admitted: number; readonly throttled: number; readonly throttledOfRun: number };
  /** Computing takes time in this world, so a prober may be late by its own load. */
  readonly computingTakesTime: boolean;
};

export type Checker = (facts: Facts, violated: (detail: string) => void) => Watch;

/** The cost of a crash before the first heartbeat (L5): after so long without faults every shard has a holder. */
export const recoveryMs = 240_000;

/** How long a fault can have effects after its end. */
export const aftermathMs = 60_000;

/** A rescue holds the shard of a locked group, and the message of its next slot has to wait again. */
export const lockAftermathMs = 180_000;

/** Whether reports, status and spec let the worker probe. */
export function isProbed({ table, ledger }: Facts, probed: Probed, item: ProbeRecord): boolean {
  const target = ledger.targetOf(probed.uid);
  if (!target || target.deletionTimestampMs !== undefined || item.uid !== probed.uid) return false;
  if (item.onHold || item.ended || item.containerID === '') return false;
  const status = table.get(statusKey(probed.address)) as StatusRecord | undefined;
  if (status?.status.phase === 'Failed' || status?.status.phase === 'Succeeded') return false;
  const isCurrent = runningContainer({ table, ledger }, probed)?.containerID === item.containerID;
  return isCurrent && isItsTurn(ledger, probed, probed.probe.container.spec.name);
}

type Running = { readonly containerID: string; readonly startedAtMs: number };

/** The probe's container that runs now, as its report or, of a static target, the target itself says. */
export function runningContainer(
  { table, ledger }: Pick<Facts, 'table' | 'ledger'>,
  { address, uid, probe }: Probed,
): Running | undefined {
  const { name } = probe.container.spec;
  const target = ledger.targetOf(uid);
  if (target?.spec.lifecycle === 'static') return staticContainer(target, name);
  const report = table.get(reportKey(address)) as ReportRecord | undefined;
  const statuses = [...(report?.containerStatuses ?? []), ...(report?.initContainerStatuses ?? [])];
  const found = statuses.find((status) => status.name === name);
  return found?.state?.kind === 'running'
    ? { containerID: found.containerID, startedAtMs: found.state.startedAtMs }
    : undefined;
}

/** A startup probe probes until it succeeds, the others from then on. */
function isItsTurn(ledger: Ledger, probed: Probed, container: string): boolean {
  const startup = ledger.probeItem({ address: probed.address, name: probeName(container, 'startup') });
  if (probed.probe.probeType === 'startup') return startup?.result !== 'success';
  return !probed.probe.container.spec.startupProbe || startup?.result === 'success';
}

/**
 * Where computing takes time: reading 2,000 targets again, or loading them, takes 9 s of the smallest function's CPU,
 * half of which is free for that (test/sim/cpu.ts).
 */
export const readAllMs = 20_000;
