/**
 * What results a worker's thresholds let through, as scripts. The vectors in `worker-named.jsonl` and
 * `worker-random.jsonl` are kubelet's own record of the same; these rows are the short introduction, and the
 * specification of a static target's worker (difference 9).
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type CacheAction,
  decideGate,
  newWorker,
  reduce,
  type WorkerSpec,
  type WorkerState,
} from '../../../shared/core/kubelet/worker.ts';
import type { ProbeType } from '../../../shared/core/spec/types.ts';
import { productEra } from '../../../shared/core/status/observed.ts';
import { containerStatusOf } from '../../support/pods.ts';

/** `probe`: its type, and its success and failure threshold. */
type Row = readonly [probe: string, script: string, sets: string, name: string];

/**
 * Script: N a new container is seen, S a success, F a failure, E a prober error. Sets: what each of them sets in the
 * results cache. S success, F failure, `.` nothing, `-` nothing, since the worker is on hold and does not probe; in
 * lower case the initial value of a new container (success, failure, unknown), after `x` if the old one's result is
 * removed.
 */
const kubelet: readonly Row[] = [
  ['readiness 1/3', 'N S              ', 'f S              ', 'readiness begins as failure'],
  ['liveness 1/3 ', 'N S              ', 's S              ', 'liveness begins as success'],
  ['startup 1/3  ', 'N F F            ', 'u . .            ', 'startup begins as unknown'],
  ['readiness 1/3', 'N S F F F        ', 'f S . . F        ', 'the third failure in a row counts'],
  ['readiness 1/3', 'N S F F S F F F  ', 'f S . . S . . F  ', 'a success in between begins the row again'],
  ['readiness 1/1', 'N F F S          ', 'f F F S          ', 'with a threshold of 1 each failure counts'],
  ['readiness 3/1', 'N S S F S S S    ', 'f . . F . . S    ', 'the third success in a row counts'],
  ['readiness 2/2', 'N S S F S F F S S', 'f . S . . . F . S', 'both thresholds above 1'],
  ['readiness 1/2', 'N F F F S S      ', 'f . F F S S      ', 'a result that lasts is set again'],
  ['readiness 1/2', 'N S F E E F      ', 'f S . . . F      ', 'a prober error moves no counter'],
  ['readiness 1/2', 'N S F N F        ', 'f S . xf F       ', 'a row continues in the next container'],
  ['liveness 1/2 ', 'N S F F S F      ', 's S . F - -      ', 'a liveness failure puts on hold'],
  ['liveness 1/2 ', 'N S S S          ', 's S S S          ', 'a liveness success does not'],
  ['liveness 1/2 ', 'N F F F N F F    ', 's . F - xs . F   ', 'a new container ends the hold'],
  ['startup 1/3  ', 'N F S S F        ', 'u . S - -        ', 'a startup success puts on hold'],
  ['startup 1/2  ', 'N F F S          ', 'u . F -          ', 'a startup failure puts on hold'],
  ['readiness 1/1', 'N F S F S        ', 'f F S F S        ', 'readiness is never on hold'],
];

const statics: readonly Row[] = [
  ['liveness 1/2 ', 'N F F F F S      ', 's . F F F S      ', 'probes on after a liveness failure'],
  ['startup 1/2  ', 'N F F F S S      ', 'u . F F S S      ', 'probes on after a startup failure'],
  ['liveness 1/2 ', 'N F F N F F      ', 's . F xs . F     ', 'counts anew in the container that is reported next'],
  ['liveness 1/2 ', 'N F N F F        ', 's . xs . F       ', 'counts anew there in the middle of a row, too'],
];

function specOf(probe: string, probesOn: boolean): WorkerSpec {
  const [, probeType, success, failure] = /^(\w+) (\d)\/(\d)/.exec(probe) ?? [];
  const thresholds = { successThreshold: Number(success), failureThreshold: Number(failure) };
  const container = { containerKind: 'container', restartPolicy: 'Always' } as const;
  return { probeType: probeType as ProbeType, initialDelaySeconds: 0, ...thresholds, ...container, probesOn };
}

/** What the script sets, in the form of the table. */
function played(spec: WorkerSpec, script: string): string {
  let worker: WorkerState = newWorker;
  let containers = 0;
  const sets = script
    .trim()
    .split(' ')
    .map((letter) => {
      if (letter === 'N') containers += 1;
      const gate = decideGate(spec, worker, podOf(spec, containers), 1_000, productEra);
      worker = gate.worker;
      if (gate.kind !== 'probe') return gate.reason === 'OnHold' ? '-' : gate.reason;
      if (letter === 'N' || letter === 'E') return shown(gate.actions);
      const step = reduce(spec, worker, letter === 'S' ? 'success' : 'failure');
      worker = step.worker;
      return shown([...gate.actions, ...step.actions]);
    });
  return sets.join(' ');
}

const podOf = ({ probeType }: WorkerSpec, container: number) => {
  const fields = { containerID: `test://${container}`, started: probeType !== 'startup' };
  const status = containerStatusOf('app', { kind: 'running', startedAtMs: 0 }, fields);
  return { phase: 'Running', deletionTimestampSet: false, allContainersRestarting: false, container: status } as const;
};

const shown = (actions: readonly CacheAction[]): string =>
  actions.map((action) => (action.kind === 'remove' ? 'x' : letterOf(action))).join('') || '.';

const letterOf = ({ result, initial }: Extract<CacheAction, { kind: 'set' }>): string =>
  initial ? result.charAt(0) : result.charAt(0).toUpperCase();

const workers = [
  ["kubelet's worker", kubelet, false],
  ['a worker of a static target', statics, true],
] as const;
for (const [what, rows, probesOn] of workers)
  describe(what, () => {
    for (const [probe, script, sets, name] of rows)
      test(name, () => assert.equal(played(specOf(probe, probesOn), script), sets.trim()));
  });
