/** READY, STATUS and RESTARTS of targets: kubectl's own cases, and where a target is no Pod. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventRow, probeRows, targetHead, targetRow } from '../../../functions/cli/printing/rows.ts';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import { type CaseContainer, type PodCase, podCases } from './kubectl-pods.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const ago = (seconds: number): string => new Date(nowMs - seconds * 1_000).toISOString();

const statusOf = (container: CaseContainer, name: string) => ({
  name: container.name ?? name,
  state: container.state ?? {},
  lastState:
    container.endedAgo === undefined ? {} : { terminated: { exitCode: 0, finishedAt: ago(container.endedAgo) } },
  ready: container.ready ?? false,
  ...(container.started !== undefined && { started: container.started }),
  restartCount: container.restarts ?? 0,
});

function targetOf({ containers, initContainers = [], ...pod }: PodCase): TargetView {
  return {
    apiVersion: 'probelet.dev/v1',
    kind: 'Target',
    metadata: {
      ...{ namespace: 'default', name: 'name', uid: 'uid', labels: {}, annotations: {} },
      ...{ generation: 1, resourceVersion: '1', creationTimestamp: ago(30) },
      ...(pod.deleted && { deletionTimestamp: ago(10) }),
    },
    spec: {
      ...{ host: '10.0.0.1', restartPolicy: 'Always', lifecycle: 'reported', terminationGracePeriodSeconds: 30 },
      readinessGates: (pod.readinessGates ?? []).map((conditionType) => ({ conditionType })),
      initContainers: initContainers.map(({ name, restartable }) => ({
        name,
        ...(restartable && { restartPolicy: 'Always' as const }),
      })),
      containers: Array.from({ length: containers }, (_, index) => ({ name: `container${index}` })),
    },
    status: {
      resourceVersion: '1',
      // kubectl's cases have phases that no Pod has.
      phase: pod.phase as TargetView['status']['phase'],
      ...(pod.reason !== undefined && { reason: pod.reason }),
      conditions: (pod.conditions ?? []) as TargetView['status']['conditions'],
      initContainerStatuses: (pod.init ?? []).map((each, index) => statusOf(each, `init${index}`)),
      containerStatuses: (pod.statuses ?? []).map((each, index) => statusOf(each, `container${index}`)),
      probes: [],
    },
  };
}

/** By the heads of their columns, as a table has them. */
function cellsOf(target: TargetView, isWide = false): { readonly [head: string]: string } {
  const style = { hasNamespace: false, isWide };
  const text = (cell: ReturnType<typeof targetRow>[number] | undefined) =>
    typeof cell === 'string' ? cell : (cell?.text ?? '');
  const row = targetRow(target, style, nowMs);
  return Object.fromEntries(targetHead(style).map((head, column) => [text(head), text(row[column])]));
}

test('a command that failed and printed nothing is told all the same', () => {
  const target = targetOf({ test: '', about: '', containers: 1, phase: 'Running', cells: ['', '', ''] });
  const probe = { container: 'container0', probeType: 'liveness', result: 'failure', since: ago(5) } as const;
  const failed = { ...probe, failureClass: 'EXEC_EXIT', output: '', onHold: false, version: 1 };
  const seen = { ...target, status: { ...target.status, probes: [failed] } };
  const said = 'the command printed nothing, and its exit code was not 0';
  assert.equal(cellsOf(seen, true)['LAST-FAILURE'], `EXEC_EXIT: ${said}`);
  assert.equal(probeRows(seen, { hasNamespace: false, isWide: true }, nowMs)[0]?.at(-1), said);
});

test('an event of a command that printed nothing says so', () => {
  const about = {
    id: '1',
    time: ago(5),
    kind: 'recorded',
    type: 'Warning',
    reason: 'Unhealthy',
    count: 1,
    attempts: [],
  } as const;
  const shown = (message: string) =>
    eventRow({ namespace: 'default', target: 'a', event: { ...about, attempts: [], message } }, false, nowMs).at(-1);
  assert.equal(shown('Liveness probe failed: '), 'Liveness probe failed: (no output)');
  assert.equal(shown('Liveness probe failed: no'), 'Liveness probe failed: no');
});

describe("kubectl's cases of printed Pods", () => {
  for (const pod of podCases)
    test(`${pod.test}: ${pod.about}`, () => {
      const cells = cellsOf(targetOf(pod));
      assert.deepEqual([cells.READY, cells.STATUS, cells.RESTARTS], pod.cells);
      if (pod.gates !== undefined) assert.equal(cellsOf(targetOf(pod), true)['READINESS GATES'], pod.gates);
    });

  test('there are as many as in its tests', () => assert.equal(podCases.length, 25 + 5 + 3 + 3 + 2 + 5));
});
