/**
 * The targets of a shard as their holder has them in memory, in the form that the API shows. Read on demand, for the
 * metrics of a process.
 */
import { parseContainerID } from '../core/kubelet/container-id.ts';
import { type SpecProbe, specProbes } from '../core/spec/spec.ts';
import type { ProbeType, Result } from '../core/spec/types.ts';
import { staleAfterMs } from '../core/status/freshness.ts';
import { hasEnded, shownOf, type UnknownReason } from '../core/status/shown.ts';
import { conditionsOf } from '../core/status/target-status.ts';
import type { Holder } from './holder.ts';
import { containerStatus, type HeldTarget } from './probing/worker.ts';

export type TargetReading = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Status of the condition `Ready`. */
  readonly ready: 'True' | 'False' | 'Unknown';
  readonly containers: readonly ContainerReading[];
  readonly probes: readonly ProbeReading[];
};

/** `restarts`: as reported. */
export type ContainerReading = { readonly name: string; readonly restarts: number };

/** Times are ms since the epoch. Absent: no such event yet. */
export type ProbeReading = {
  readonly container: string;
  readonly probeType: ProbeType;
  readonly result: Result;
  /** When a probe last had a verdict. */
  readonly lastProbeAtMs?: number;
  /** When the result last changed. */
  readonly lastChangeAtMs?: number;
};

/** Yields one target at a time, so that the caller can pause in between. */
export function* readingsOf({ targets, run, self }: Holder): Iterable<TargetReading> {
  const tick = run.message.mode === 'tick';
  for (const held of [...targets.values()]) {
    if (held.gone) continue;
    const isDegraded = self.health().kind === 'doubtful';
    yield readingOf(held, { nowMs: run.ports.clock.nowMs(), tick, isDegraded });
  }
}

/** The time of the reading (wall time), the mode of the shard, and whether the prober is degraded. */
type Moment = { readonly nowMs: number; readonly tick: boolean; readonly isDegraded: boolean };

function readingOf(held: HeldTarget, moment: Moment): TargetReading {
  const { namespace, name, uid, spec } = held.target;
  const probes = specProbes(spec).filter(({ name: probe }) => !hasEnded(held.target, held.records.get(probe)));
  const unseen = new Map(probes.flatMap((probe) => unseenEntry(held, probe, moment)));
  const conditions = conditionsOf(held.state(), unseen);
  const { containerStatuses, initContainerStatuses } = held.observed;
  return {
    namespace,
    name,
    uid,
    ready: conditions.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    containers: [...containerStatuses, ...initContainerStatuses].map((status) => ({
      name: status.name,
      restarts: status.restartCount,
    })),
    probes: probes.map((probe) => probeReading(held, probe, unseen.has(probe.name))),
  };
}

type Unseen = readonly (readonly [probe: string, reason: UnknownReason])[];

/**
 * An entry if the result of the probe must not be shown. The API follows the same rule
 * (`shared/core/status/freshness.ts`).
 */
function unseenEntry({ workers }: HeldTarget, { name, probe }: SpecProbe, moment: Moment): Unseen {
  if (moment.isDegraded) return [[name, 'ProberDegraded']];
  const seenAtMs = workers.get(name)?.seenAtMs ?? moment.nowMs;
  return moment.nowMs - seenAtMs > staleAfterMs(probe.periodSeconds, moment.tick) ? [[name, 'Late']] : [];
}

function probeReading(held: HeldTarget, { name, container, probeType }: SpecProbe, isUnseen: boolean): ProbeReading {
  const record = held.records.get(name);
  const status = containerStatus(held.observed, container.spec.name);
  const shown = shownOf(record, parseContainerID(status?.containerID ?? ''));
  // Only changes are committed, so the record has the time of an earlier probe.
  const lastProbeAtMs = held.workers.get(name)?.triedAtMs ?? record?.lastChangeTimeMs;
  return {
    container: container.spec.name,
    probeType,
    result: shown.kind === 'verdict' && !isUnseen ? shown.result : 'unknown',
    ...(lastProbeAtMs !== undefined && { lastProbeAtMs }),
    ...(record && record.version > 0 && { lastChangeAtMs: record.sinceMs }),
  };
}
