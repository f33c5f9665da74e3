import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readyWakes, takeWake } from '../../../shared/core/kubelet/ticker.ts';
import type { ProbeRecord, TargetRecord } from '../../../shared/core/spec/records.ts';
import { type ContainerSpec, type Probe, type ProbeName, specProbes } from '../../../shared/core/spec/spec.ts';
import { newProbeRecord } from '../../../shared/core/status/observed.ts';
import { initialStatus } from '../../../shared/core/status/target-status.ts';
import { HeldTargets } from '../../../shared/holder/held-targets.ts';
import type { Holder } from '../../../shared/holder/holder.ts';
import { adoptTarget, type Checkpoints } from '../../../shared/holder/probing/reconcile.ts';
import type { HeldTarget, Worker } from '../../../shared/holder/probing/worker.ts';
import type { ProbeMetricLabels } from '../../../shared/prober/metrics.ts';
import { probeKey, targetAddress } from '../../../shared/store/records/keys.ts';
import type { ReadTarget } from '../../../shared/table/targets.ts';
import { specOf, targetRecordOf, tcpProbe } from '../../support/pods.ts';
import { testsIn } from '../../support/tests-in.ts';

const nowMs = Date.UTC(2030, 0, 1);
const address = targetAddress('default', 'checkout');
const staticID = 'probelet://u1/app/0';

/** What adopting a target needs of a holder; nothing is probed, written or published. */
function idleHolder(message: Partial<Holder['run']['message']> = {}): Holder {
  const unused = () => assert.fail('not needed to adopt a target');
  const observed: ProbeMetricLabels[] = [];
  const run = {
    ports: {
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      metrics: { observe: unused, remove: (labels: ProbeMetricLabels) => observed.push(labels) },
    },
    message,
  } as unknown as Holder['run'];
  return {
    run,
    commits: { submit: unused, drained: unused, end: unused, isScarce: unused },
    publisher: { publish: unused, drained: unused },
    againPace: { waitMs: unused, found: unused },
    self: { watch: unused, health: unused, doubtedSince: unused, jumped: unused, stop: unused, voidFailures: unused },
    surgeLimit: { ask: unused, surge: unused, heldBack: unused },
    publishSurge: unused,
    takenOver: undefined,
    targets: new HeldTargets(),
    schedule: () => {},
    scheduleTarget: () => {},
    reread: unused,
    reload: unused,
  };
}

const readinessOf = (probe: Partial<Probe>): ContainerSpec => ({
  name: 'app',
  readinessProbe: { ...tcpProbe, ...probe },
});

type Reading = {
  readonly containers?: readonly ContainerSpec[];
  readonly probes?: { readonly [name: ProbeName]: Partial<ProbeRecord> };
  readonly target?: Partial<TargetRecord>;
};

/** What is read of a target: its probes as given, else never probed. */
function read({ containers = [readinessOf({})], probes = {}, target: fields = {} }: Reading): ReadTarget {
  const spec = specOf({ lifecycle: 'static', containers });
  const target = targetRecordOf({ creationTimestampMs: nowMs, spec, ...fields });
  const records = specProbes(target.spec).map((probe) => [
    probe.name,
    { ...newProbeRecord('u1', probe), ...probes[probe.name] },
  ]);
  return { address, target, status: initialStatus(target, nowMs), probes: Object.fromEntries(records) };
}

/** Held as it was read. */
const adopted = (reading: Reading = {}, checkpoints: Checkpoints = {}, holder = idleHolder()) =>
  adoptTarget(holder, read(reading), checkpoints);

const workerOf = (held: HeldTarget, name = 'app#readiness') => held.workers.get(name)?.verdict.state;

/**
 * A readiness probe that succeeded for long, and then failed twice; its digest is that of the spec that `read` gives.
 */
function failingTwice(): Partial<ProbeRecord> {
  const digest = adopted().workers.get('app#readiness')?.spec.digest ?? '';
  return {
    containerID: staticID,
    result: 'success',
    version: 7,
    streak: 4,
    lastResult: 'failure',
    resultRun: 1,
    specDigest: digest,
  };
}

const checkpointOf = (uid: string, streak: number): Checkpoints => ({
  [probeKey(address, 'app#readiness').sk]: { uid, streak, resultRun: 2, lastResult: 'failure' },
});

describe('a loaded worker', () => {
  const stored = read({ probes: { 'app#readiness': failingTwice() } });

  test('continues with the result, the run and the container that were committed', () => {
    const held = adoptTarget(idleHolder(), stored, {});
    assert.deepEqual(workerOf(held), { containerID: staticID, lastResult: 'failure', resultRun: 1, onHold: false });
    assert.equal(held.records.get('app#readiness')?.result, 'success');
  });

  test('takes the run length of a checkpoint of the same streak', () =>
    assert.equal(workerOf(adoptTarget(idleHolder(), stored, checkpointOf('u1', 4)))?.resultRun, 2));

  test('takes none of another streak or another uid', () => {
    for (const checkpoint of [checkpointOf('u1', 3), checkpointOf('u0', 4)])
      assert.equal(workerOf(adoptTarget(idleHolder(), stored, checkpoint))?.resultRun, 1);
  });

  test('stays on hold', () => {
    const record = { ...failingTwice(), onHold: true, resultRun: 0 };
    assert.equal(workerOf(adopted({ probes: { 'app#readiness': record } }))?.onHold, true);
  });

  test('leaves nothing untold that was committed and not acked', () =>
    assert.deepEqual([...adoptTarget(idleHolder(), stored, {}).unacked.keys()], ['app#readiness']));

  test('waits for its phase, while a new one probes at once', () => {
    const loaded = adoptTarget(idleHolder(), stored, {}).workers.get('app#readiness');
    const fresh = adopted().workers.get('app#readiness');
    const wakes = [loaded, fresh].map((probe) => probe && readyWakes(probe.ticker));
    assert.deepEqual(wakes, [[], ['tick']]);
  });

  test('waits in tick mode for what the run plans, while a new one probes at once', () => {
    const ofTick = (stored: ReadTarget) =>
      adoptTarget(idleHolder({ mode: 'tick' }), stored, {}).workers.get('app#readiness')?.ticker;
    const [loaded, fresh] = [ofTick(stored), ofTick(read({}))];
    assert.ok(loaded?.resting);
    assert.deepEqual(fresh && [fresh.resting, readyWakes(fresh)], [undefined, ['tick']]);
  });

  test('probes at once when a hold has ended its streak, and not again much later than a period', () => {
    const record: Partial<ProbeRecord> = { containerID: staticID, result: 'unknown', version: 3 };
    const probes = { 'app#readiness': record };
    // The phase is that of the name.
    for (const name of ['t1', 't2', 't3', 't4', 't5', 't6', 't7', 't8']) {
      const probe = adopted({ probes, target: { name } }).workers.get('app#readiness');
      assert.ok(probe);
      assert.deepEqual(readyWakes(probe.ticker), ['tick']);
      const { nextTickMs, periodMs } = takeWake(probe.ticker, 'tick', nowMs);
      assert.ok(nextTickMs - nowMs <= 1.25 * periodMs, `${name}: ${nextTickMs - nowMs} ms`);
    }
  });
});

const inHolder = testsIn(() => idleHolder());

describe('a changed spec', () => {
  const stricter = { containers: [readinessOf({ failureThreshold: 2 })], probes: { 'app#readiness': failingTwice() } };

  inHolder('restarts the counters and keeps the result', (holder) => {
    const before = read({ probes: { 'app#readiness': failingTwice() } });
    adoptTarget(holder, before, {});
    const held = adopted(stricter, {}, holder);
    assert.deepEqual(workerOf(held), { containerID: staticID, lastResult: undefined, resultRun: 0, onHold: false });
    assert.equal(held.records.get('app#readiness')?.result, 'success');
  });

  inHolder('is not what another read of the same spec is: the counters go on', (holder) => {
    const stored = read({ probes: { 'app#readiness': failingTwice() } });
    adoptTarget(holder, stored, {});
    assert.equal(workerOf(adoptTarget(holder, stored, {}))?.resultRun, 1);
  });

  test('is noticed as well when it changed while the target had no holder', () => {
    const held = adopted(stricter, checkpointOf('u1', 4));
    assert.deepEqual(workerOf(held), { containerID: staticID, lastResult: undefined, resultRun: 0, onHold: false });
  });

  test('leaves the counters alone when only the order of its fields differs', () => {
    const { failureThreshold, ...rest } = tcpProbe;
    const reordered = { name: 'app', readinessProbe: { failureThreshold, ...rest } };
    const held = adopted({ containers: [reordered], probes: { 'app#readiness': failingTwice() } });
    assert.equal(workerOf(held)?.resultRun, 1);
  });
});

describe('workers', () => {
  const both = [readinessOf({}), { name: 'late', livenessProbe: tcpProbe }];

  inHolder('of a later container are added beside those that exist', (holder) => {
    adopted({}, {}, holder);
    const held = adopted({ containers: both }, {}, holder);
    assert.deepEqual([...held.workers.keys()], ['app#readiness', 'late#liveness']);
  });

  inHolder('whose probe has left the spec are stopping', (holder) => {
    adopted({ containers: both }, {}, holder);
    const held = adopted({}, {}, holder);
    assert.deepEqual(
      [...held.workers.values()].map(({ name, spec }) => [name, spec.stopping]),
      [
        ['app#readiness', false],
        ['late#liveness', true],
      ],
    );
  });

  inHolder('that have ended are not brought back by a read that is older than their end', (holder) => {
    const older = read({
      probes: { 'app#readiness': { version: 2 } },
      target: { spec: specOf({ lifecycle: 'static', containers: [{ name: 'app' }] }) },
    });
    const record = {
      ...newProbeRecord('u1', { container: { kind: 'container', spec: { name: 'app' } }, probeType: 'readiness' }),
      version: 2,
    };
    const held = adoptTarget(holder, { ...older, probes: { 'app#readiness': record } }, {});
    held.records.set('app#readiness', { ...record, version: 3, ended: true });
    held.workers.delete('app#readiness');
    adoptTarget(holder, { ...older, probes: { 'app#readiness': record } }, {});
    assert.equal(held.records.get('app#readiness')?.ended, true);
    assert.equal(held.workers.size, 0);
  });

  test('for liveness and startup stop when the target terminates, a sidecar’s and readiness go on', () => {
    const all = { startupProbe: tcpProbe, readinessProbe: tcpProbe, livenessProbe: tcpProbe };
    const target = {
      deletionTimestampMs: nowMs + 30_000,
      spec: specOf({
        lifecycle: 'static',
        containers: [{ name: 'app', ...all }],
        initContainers: [{ name: 'side', restartPolicy: 'Always', livenessProbe: tcpProbe }],
      }),
    };
    const held = adopted({ target });
    const alive = [...held.workers.values()].filter(({ spec }) => !spec.stopping).map(({ name }) => name);
    assert.deepEqual(alive.sort(), ['app#readiness', 'side#liveness']);
  });
});

/** The workers that a new look at the pod triggers. */
function triggeredBy(held: HeldTarget): readonly ProbeName[] {
  const triggered: ProbeName[] = [];
  held.refreshView({ schedule: ({ name }: Worker) => void triggered.push(name) });
  return triggered;
}

describe('a readiness trigger', () => {
  const containers = [{ name: 'app', startupProbe: tcpProbe, readinessProbe: tcpProbe }];
  const held = adopted({ containers });
  const startup = held.records.get('app#startup');
  assert.ok(startup);

  test('is passed on when the container has just started', () => {
    held.records.set('app#startup', { ...startup, containerID: staticID, result: 'success', version: 1 });
    assert.deepEqual(triggeredBy(held), ['app#readiness']);
  });

  test('is not passed on by every later look', () => {
    assert.deepEqual(held.observed.triggered, ['app#readiness']);
    assert.deepEqual(triggeredBy(held), []);
  });

  inHolder('comes once for each manual request', (holder) => {
    const wakes = (requests: number) => {
      const target = { probeRequests: { 'app#readiness': requests } };
      const probe = adopted({ probes: { 'app#readiness': failingTwice() }, target }, {}, holder).workers.get(
        'app#readiness',
      );
      assert.ok(probe);
      const ready = readyWakes(probe.ticker);
      probe.restart({ ...probe.ticker, triggerHeld: false });
      return ready;
    };
    assert.deepEqual([wakes(0), wakes(1), wakes(1), wakes(2)], [[], ['trigger'], [], ['trigger']]);
  });

  inHolder('comes for the first manual request of a target that has been read without any', (holder) => {
    const probes = { 'app#readiness': failingTwice() };
    adopted({ probes }, {}, holder);
    const target = { probeRequests: { 'app#readiness': 1 } };
    const probe = adopted({ probes, target }, {}, holder).workers.get('app#readiness');
    assert.deepEqual(probe && readyWakes(probe.ticker), ['trigger']);
  });

  test('of which a checkpoint says nothing has not been passed on, one that it counts has', () => {
    const target = { probeRequests: { 'app#readiness': 1 } };
    const stored = read({ probes: { 'app#readiness': failingTwice() }, target });
    const wakes = (seen: { readonly requestsSeen?: number }) => {
      const key = probeKey(address, 'app#readiness').sk;
      const checkpoints = { [key]: { uid: 'u1', streak: 4, resultRun: 1, ...seen } };
      const probe = adoptTarget(idleHolder(), stored, checkpoints).workers.get('app#readiness');
      return probe && readyWakes(probe.ticker);
    };
    assert.deepEqual([wakes({}), wakes({ requestsSeen: 1 })], [['tick'], []]);
  });

  test('that whoever loads it may be the second to pass on is a probe at once, which leaves the phase as it is', () => {
    const target = { probeRequests: { 'app#readiness': 1 } };
    const held = adopted({ probes: { 'app#readiness': failingTwice() }, target });
    const probe = held.workers.get('app#readiness');
    assert.ok(probe);
    assert.deepEqual(readyWakes(probe.ticker), ['tick']);
    assert.ok(probe.ticker.returningTo);
  });
});
