/** Targets and workers that a holder might have, for tests of what it does with them. */

import { newTargetTicker, type Ticker } from '../../shared/core/kubelet/ticker.ts';
import { newWorker } from '../../shared/core/kubelet/worker.ts';
import type { Probe, SpecProbe } from '../../shared/core/spec/spec.ts';
import { newProbeRecord } from '../../shared/core/status/observed.ts';
import { initialStatus } from '../../shared/core/status/target-status.ts';
import { heldSpecOf } from '../../shared/holder/probing/held-spec.ts';
import { HeldTarget, Worker } from '../../shared/holder/probing/worker.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { targetRecordOf, tcpProbe } from './pods.ts';

/** A target without workers. */
export function heldTargetOf(name = 'checkout'): HeldTarget {
  const target = targetRecordOf({ name });
  return new HeldTarget(
    { address: targetAddress('default', name), target, status: initialStatus(target, 0), probes: {} },
    0,
  );
}

/** A new worker of the target, for a readiness probe of a container of this name. */
export function workerOf(
  held: HeldTarget,
  container = 'app',
  ticker: Ticker = newTargetTicker(0, { phaseMs: 0, periodMs: 10_000 }),
  probe: Partial<Probe> = {},
  seenAtMs = 0,
): Worker {
  const entry: SpecProbe = {
    name: `${container}#readiness`,
    container: { kind: 'container', spec: { name: container } },
    probeType: 'readiness',
    probe: { ...tcpProbe, ...probe },
  };
  const record = newProbeRecord(held.target.uid, entry);
  const worker = new Worker(held, entry, heldSpecOf(held.target, entry), {
    verdict: { record, state: newWorker, attempts: [], ration: undefined },
    ticker,
    requestsSeen: 0,
    seenAtMs,
  });
  held.workers.set(entry.name, worker);
  return worker;
}
