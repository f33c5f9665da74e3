/** A checker watches what happens from outside and says what must not have happened. One file for each invariant of docs/architecture.md. */
import type { ProbeRecord, ReportRecord, StatusRecord } from '../../../shared/core/records.ts';
import { probeName } from '../../../shared/core/spec.ts';
import { reportKey, statusKey } from '../../../shared/store/keys.ts';
import type { Published } from '../bus.ts';
import type { Asked, SeenAnswer } from '../client.ts';
import type { FaultLog } from '../fault-log.ts';
import type { DoneFault, Profile } from '../faults.ts';
import type { Ledger, Probed } from '../ledger.ts';
import type { Network, SeenProbe } from '../network.ts';
import { staticContainer } from '../oracle/container-id.ts';
import type { WokenSchedule } from '../schedule.ts';
import type { AppliedWrite, Table } from '../table.ts';
import type { StartedRun } from '../world.ts';

export type ProbeStart = Pick<SeenProbe, 'endpoint' | 'prober' | 'startMs'>;

export type Watch = {
  readonly applied?: (write: AppliedWrite) => void;
  readonly published?: (published: Published) => void;
  readonly answered?: (answer: SeenAnswer) => void;
  readonly asked?: (asked: Asked, sentMs: number) => void;
  readonly probeStarted?: (start: ProbeStart) => void;
  readonly probeSeen?: (probe: SeenProbe) => void;
  readonly probeAbandoned?: (probe: Pick<SeenProbe, 'endpoint' | 'prober'>) => void;
  readonly faultDone?: (fault: DoneFault) => void;
  readonly runStarted?: (run: StartedRun) => void;
  readonly scheduleWoken?: (woken: WokenSchedule) => void;
  /** Every ten seconds. */
  readonly ticked?: () => void;
  /** It has been calm for a third of an hour. */
  readonly settled?: () => void;
};

export type Facts = {
  readonly ledger: Ledger;
  readonly table: Table;
  readonly network: Network;
  readonly profile: Profile;
  readonly nowMs: () => number;
  readonly faults: FaultLog;
  /** Computing takes time in this world, so a prober may be late by its own load. */
  readonly computingTakesTime: boolean;
};

export type Checker = (facts: Facts, violated: (detail: string) => void) => Watch;

/** What a crash before the first heartbeat may cost (L5): after so long a calm every shard has a holder. */
export const recoveryMs = 240_000;

/** What lies so long before may still be felt. */
export const aftermathMs = 60_000;

/** A shard whose group is locked is held by a rescue, whose next slot's message has to wait again. */
export const lockAftermathMs = 180_000;

/** Does anything keep the worker from being probed, as far as reports, status and spec say? */
export function isProbed({ table, ledger }: Facts, probed: Probed, item: ProbeRecord): boolean {
  const target = ledger.targetOf(probed.uid);
  if (!target || target.deletionTimestampMs !== undefined || item.uid !== probed.uid) return false;
  if (item.onHold || item.ended || item.containerID === '') return false;
  const status = table.get(statusKey(probed.address)) as StatusRecord | undefined;
  if (status?.status.phase === 'Failed' || status?.status.phase === 'Succeeded') return false;
  const container = probed.probe.container.spec.name;
  const report = table.get(reportKey(probed.address)) as ReportRecord | undefined;
  const reported = report?.containerStatuses.find(({ name }) => name === container);
  const isRunning =
    target.spec.lifecycle === 'reported'
      ? reported?.state?.kind === 'running' && reported.containerID === item.containerID
      : staticContainer(target, container).containerID === item.containerID;
  return isRunning && isItsTurn(ledger, probed, container);
}

/** A startup probe until it succeeds, the others from then on. */
function isItsTurn(ledger: Ledger, probed: Probed, container: string): boolean {
  const startup = ledger.probeItem({ address: probed.address, name: probeName(container, 'startup') });
  if (probed.probe.probeType === 'startup') return startup?.result !== 'success';
  return !probed.probe.container.spec.startupProbe || startup?.result === 'success';
}

/**
 * Where computing takes time: to read 2,000 targets again, or to load them, takes the smallest function 9 s of its CPU, of which it has half
 * for that (test/sim/cpu.ts).
 */
export const readAllMs = 20_000;
