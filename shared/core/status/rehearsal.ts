/** What the thresholds of a probe make of a row of findings: the engine's own rules, without a target. Pure. */

import { decideGate, newWorker, type PodView, reduce, type WorkerSpec, type WorkerState } from '../kubelet/worker.ts';
import type { Probe } from '../spec/spec.ts';
import type { ProbeType, Result } from '../spec/types.ts';

/** What one probe finds. `error`: it could not be made, which is neither a success nor a failure. */
export type RehearsedFinding = 'success' | 'failure' | 'error';

export type RehearsedStep = {
  /** ms since the first probe. */
  readonly afterMs: number;
  readonly finding: RehearsedFinding;
  /** How many findings in a row are alike, this one included. */
  readonly run: number;
  /** How many it takes; undefined: an error does not count. */
  readonly threshold?: number;
  /** The result after this finding; undefined: no verdict yet. */
  readonly result?: Result;
  /** Whether the result is another one than before. */
  readonly isNew: boolean;
  /** Set: the probe is not made, for its worker waits for the next container. */
  readonly onHold?: true;
};

/** `isStatic`: no runtime restarts the container, so the probe continues after a verdict. */
export type RehearsedProbe = Pick<
  Probe,
  'initialDelaySeconds' | 'periodSeconds' | 'successThreshold' | 'failureThreshold'
> & { readonly probeType: ProbeType; readonly isStatic: boolean };

const era = { changeContainerStatusOnKubeletRestart: true, kubeletStartMs: 0 };

/** One step for each finding, a period apart. */
export function rehearse(probe: RehearsedProbe, findings: readonly RehearsedFinding[]): readonly RehearsedStep[] {
  const { probeType, initialDelaySeconds, successThreshold, failureThreshold } = probe;
  const spec: WorkerSpec = {
    ...{ probeType, initialDelaySeconds, successThreshold, failureThreshold },
    containerKind: 'container',
    restartPolicy: 'Always',
    ...(probe.isStatic && { probesOn: true }),
  };
  const firstMs = initialDelaySeconds * 1_000;
  let worker: WorkerState = newWorker;
  let result: Result | undefined;
  return findings.map((finding, place) => {
    const afterMs = place * probe.periodSeconds * 1_000;
    const gate = decideGate(spec, worker, running(probeType), firstMs + afterMs, era);
    worker = gate.worker;
    const step = { afterMs, finding, isNew: false, run: worker.resultRun, ...(result && { result }) };
    if (gate.kind !== 'probe') return { ...step, run: 0, onHold: true };
    if (finding === 'error') return step;
    const reduced = reduce(spec, worker, finding);
    const before = result;
    // A hold sets the run to 0, after this finding has been counted.
    const run = worker.lastResult === finding ? worker.resultRun + 1 : 1;
    for (const action of reduced.actions) if (action.kind === 'set') result = action.result;
    worker = reduced.worker;
    const threshold = finding === 'failure' ? failureThreshold : successThreshold;
    return { afterMs, finding, run, threshold, ...(result && { result }), isNew: result !== before };
  });
}

/** One container that has been running since time 0. Its startup probe decides, the others may be made. */
const running = (probeType: ProbeType): PodView => ({
  phase: 'Running',
  deletionTimestampSet: false,
  allContainersRestarting: false,
  container: {
    name: 'main',
    containerID: 'probelet://rehearsal/main/0',
    state: { kind: 'running', startedAtMs: 0 },
    ready: false,
    started: probeType !== 'startup',
    restartCount: 0,
  },
});
