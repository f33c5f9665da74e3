/**
 * Which cases are played, and how their texts are judged. That the compiled cases are these is checked as they are
 * played.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { cases, nameOf, undeclared } from './cases.ts';
import { chosenOf } from './player.ts';
import { textFaults } from './texts.ts';

const names = cases.map(({ name }) => name);

describe('the declared cases', () => {
  test('are the 46 of container_probe.go, 23 of either kind of container', () => {
    assert.equal(new Set(names).size, 46);
    assert.equal(names.filter((name) => name.startsWith('Probing container ')).length, 23);
    assert.equal(names.filter((name) => name.startsWith('Probing restartable init container ')).length, 23);
  });

  test('are compiled from the Kubernetes that the vectors are recorded from', () => {
    const versionIn = (mod: string) =>
      /^\tk8s\.io\/kubernetes (v\S+)$/m.exec(readFileSync(join(import.meta.dirname, mod), 'utf8'))?.[1];
    assert.equal(versionIn('go/go.mod'), 'v1.36.3');
    assert.equal(versionIn('go/go.mod'), versionIn('../../conformance/recorder/go.mod'));
  });

  test('have Ginkgo’s names without labels', () => {
    const text =
      '[sig-node] [NodeConformance] [FeatureGate:SidecarContainers] Probing restartable init container should *not* be restarted with a GRPC liveness probe [Conformance]';
    assert.equal(
      nameOf(text),
      'Probing restartable init container should *not* be restarted with a GRPC liveness probe',
    );
  });

  test('differ from what is compiled where a case was added, dropped, renamed or doubled', () => {
    assert.deepEqual(undeclared(names, names), []);
    assert.deepEqual(undeclared([...names, 'Probing container anew'], names), [
      'Probing container anew: in container_probe.go and not declared',
    ]);
    assert.deepEqual(undeclared(names.slice(1), names), [`${names[0]}: declared and not in container_probe.go`]);
    assert.deepEqual(undeclared([...names, names[0] ?? ''], names), [`${names[0]}: twice in container_probe.go`]);
  });

  test('are all played for lifecycle reported, and all but one for static', () => {
    const all = { only: '', isSlice: false };
    assert.equal(chosenOf({ ...all, lifecycle: 'reported' }).length, 46);
    assert.equal(chosenOf({ ...all, lifecycle: 'static' }).length, 45);
  });

  test('of the slice are those that do not watch for minutes that nothing happens', () => {
    const slice = chosenOf({ lifecycle: 'reported', only: '', isSlice: true });
    assert.equal(slice.length, 34);
    assert.ok(slice.every(({ name }) => !name.includes('*not*')));
  });
});

describe('texts', () => {
  const expected = ['Unhealthy: Liveness probe failed: ', 'Killing: Container app failed liveness probe'];
  const possible = ['Unhealthy: Readiness probe failed: '];
  const stopping = 'Killing: Stopping container app';

  test('are the expected ones, however often, and those that are possible', () => {
    for (const recorded of [expected, [...expected, ...expected, stopping], [...expected, ...possible]])
      assert.deepEqual(textFaults({ expected, possible, recorded }, 'reported'), []);
  });

  test('that are missing or others are named', () => {
    const recorded = ['Unhealthy: Liveness probe failed: \n', expected[1] ?? ''];
    assert.deepEqual(textFaults({ expected, possible, recorded }, 'reported'), [
      'kubelet says "Unhealthy: Liveness probe failed: "',
      'probelet says "Unhealthy: Liveness probe failed: \\n"',
    ]);
  });

  test('of probes of a static target are judged, the request for a restart is not', () => {
    const request = 'Killing: Container app failed liveness probe, restart requested';
    const judged = { expected, possible, recorded: [expected[0] ?? '', request] };
    assert.deepEqual(textFaults(judged, 'static'), []);
    assert.deepEqual(textFaults({ ...judged, recorded: [request] }, 'static'), [
      'kubelet says "Unhealthy: Liveness probe failed: "',
    ]);
  });
});

describe('wrong use ends with 2 and says what is wrong', () => {
  const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['an option that does not exist', ['--lifecicle', 'static'], /lifecicle/],
    ['a lifecycle that does not exist', ['--lifecycle', 'played'], /no lifecycle played/],
    ['a text that no case has', ['--only', 'nowhere'], /no case has nowhere in its name/],
  ];
  for (const [name, args, message] of wrong)
    test(name, () => {
      const main = join(import.meta.dirname, 'main.ts');
      const { status, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
      assert.match(stderr, message);
      assert.equal(status, 2);
    });
});
