import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { productEra } from '../../shared/core/observed.ts';
import type { ProbeType } from '../../shared/core/types.ts';
import { decideGate, newWorker, type PodView, reduce, type Worker, type WorkerSpec } from '../../shared/core/worker.ts';
import { containerStatusOf } from '../support/pods.ts';

/** kubelet's worker is shown by the vectors; these are about the worker of a static target, which probes on (difference 9). */
const specOfStatic = (probeType: ProbeType): WorkerSpec => ({
  probeType,
  initialDelaySeconds: 0,
  successThreshold: 1,
  failureThreshold: 2,
  containerKind: 'container',
  restartPolicy: 'Always',
  probesOn: true,
});

const podWith = (containerID: string, started = true): PodView => ({
  phase: 'Running',
  deletionTimestampSet: false,
  allContainersRestarting: false,
  container: containerStatusOf('app', { kind: 'running', startedAtMs: 0 }, { containerID, started }),
});

/** Plays a script of S and F; returns the last worker and what each probe set. */
function played(probeType: ProbeType, script: string, pod: PodView) {
  const spec = specOfStatic(probeType);
  let worker: Worker = newWorker;
  const set = [...script].map((letter) => {
    const gate = decideGate(spec, worker, pod, 1_000, productEra);
    assert.equal(gate.kind, 'probe');
    const step = reduce(spec, gate.worker, letter === 'S' ? 'success' : 'failure');
    worker = step.worker;
    return step.actions.map((action) => (action.kind === 'set' ? action.result : action.kind)).join();
  });
  return { worker, set };
}

describe('a worker of a static target', () => {
  test('probes on after a liveness failure, and a success counts at once', () => {
    const { worker, set } = played('liveness', 'FFFFS', podWith('test://1'));
    assert.deepEqual(set, ['', 'failure', 'failure', 'failure', 'success']);
    assert.equal(worker.onHold, false);
  });

  test('probes on after a startup failure', () => {
    const { worker, set } = played('startup', 'FFFS', podWith('test://1', false));
    assert.deepEqual(set, ['', 'failure', 'failure', 'success']);
    assert.equal(worker.onHold, false);
  });

  test('counts anew in the container that is reported next', () => {
    const { worker } = played('liveness', 'FF', podWith('test://1'));
    const gate = decideGate(specOfStatic('liveness'), worker, podWith('test://2'), 1_000, productEra);
    assert.deepEqual(gate.worker, { containerID: 'test://2', resultRun: 0, onHold: false });
    assert.deepEqual(reduce(specOfStatic('liveness'), gate.worker, 'failure').actions, []);
  });
});
