import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { functionLog } from '../../functions/lambda/log.ts';
import { calmMs, functionMetrics } from '../../functions/lambda/metrics.ts';
import { invocationDeadline, marginMs } from '../../functions/prober/deadline.ts';
import { countedProbes, keepReporting } from '../../functions/prober/probe-metrics.ts';
import { onlyOf, type ProcessMemory } from '../../functions/prober/process-memory.ts';
import type { RunView, ShardMemory } from '../../shared/holder/shard-run.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const nowMs = Date.UTC(2026, 0, 1);

function lines() {
  const kept: string[] = [];
  return { write: (line: string) => kept.push(line), taken: () => kept.splice(0).map((line) => JSON.parse(line)) };
}

describe('the log of a function', () => {
  afterEach(() => {
    delete process.env._X_AMZN_TRACE_ID;
  });

  test('is a JSON object a line, which names the function and the request', () => {
    const { write, taken } = lines();
    const log = functionLog({ service: 'prober', write, nowMs: () => nowMs });
    log.info('before');
    log.begin({ awsRequestId: 'one' });
    process.env._X_AMZN_TRACE_ID = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';
    log.warn('first', { shard: '00' });
    log.begin({ awsRequestId: 'two' });
    log.error('second', { level: 'mine', message: 'mine' });
    const common = { service: 'prober', timestamp: '2026-01-01T00:00:00.000Z' };
    const traced = { ...common, xray_trace_id: '1-5759e988-bd862e3fe1be46a994272793' };
    const [one, two] = ['one', 'two'].map((id, index) => ({ function_request_id: id, cold_start: index === 0 }));
    assert.deepEqual(taken(), [
      { level: 'INFO', message: 'before', ...common },
      { level: 'WARN', message: 'first', shard: '00', ...traced, ...one },
      { level: 'ERROR', message: 'second', ...traced, ...two },
    ]);
  });

  test('shows errors with their causes, and survives what JSON cannot carry', () => {
    const { write, taken } = lines();
    const log = functionLog({ service: 'prober', write, nowMs: () => nowMs });
    const round: Record<string, unknown> = { name: 'round' };
    round.self = round;
    log.error('failed', { cause: new Error('outer', { cause: new RangeError('inner') }), count: 3n });
    log.error('round', { round, shard: '00' });
    log.info('long', { text: 'x'.repeat(100_000) });
    const [failed, rounded, long] = taken();
    assert.deepEqual([failed.cause.message, failed.cause.cause.type, failed.count], ['outer', 'RangeError', '3']);
    assert.deepEqual([rounded.message, rounded.shard, rounded.round], ['round', '00', '[object Object]']);
    assert.ok(long.text.length < 20_000);
  });
});

describe('the metrics of a function', () => {
  const prober = { stage: 'prod', service: 'prober' } as const;
  const clock = virtualClock();

  test('are a line in the embedded metric format, by stage and function alone', () => {
    const { write, taken } = lines();
    const metrics = functionMetrics({
      ...prober,
      detailed: true,
      clock: { ...clock, nowMs: () => nowMs + 0.5 },
      write,
    });
    metrics.onCall({ operation: 'get', readUnits: 1, writeUnits: 0 });
    metrics.onCall({ operation: 'put', readUnits: 0, writeUnits: 2 });
    metrics.emit({ TargetsHeld: 3 });
    metrics.emit();
    const [first, second] = taken();
    const Metrics = ['TargetsHeld', 'ReadUnits', 'WriteUnits'].map((Name) => ({ Name, Unit: 'Count' }));
    const CloudWatchMetrics = [{ Namespace: 'probelet', Dimensions: [['Stage', 'Function']], Metrics }];
    assert.deepEqual(first, {
      _aws: { Timestamp: nowMs, CloudWatchMetrics },
      ...{ Stage: 'prod', Function: 'prober', TargetsHeld: 3, ReadUnits: 1, WriteUnits: 2 },
    });
    assert.deepEqual([second.ReadUnits, second.WriteUnits], [0, 0]);
  });

  type Published = {
    readonly _aws?: { readonly CloudWatchMetrics: readonly { readonly Metrics: readonly Named[] }[] };
  };
  type Named = { readonly Name: string };
  const published = ({ _aws }: Published) =>
    _aws?.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name));

  test('are fields of the log, unless an alarm watches them', async () => {
    const { write, taken } = lines();
    const { emit, onDenied } = functionMetrics({ ...prober, clock, write });
    const fine = { TargetsHeld: 3, ProbesLate: 0, ShardsDegraded: 0 };
    emit(fine);
    emit({ ...fine, ProbesLate: 2 });
    onDenied();
    await clock.advance(calmMs);
    emit(fine);
    await clock.advance(1);
    emit(fine);
    const reports = taken();
    // A problem is published as over before its metric ends, so that older data is not missing from the alarm's window.
    assert.deepEqual(reports.map(published), [undefined, ['ProbesLate'], ['ProbesLate', 'AccessDenied'], undefined]);
    assert.deepEqual(
      reports.map(({ ProbesLate }) => ProbesLate),
      [0, 2, 0, 0],
    );
    for (const { TargetsHeld } of reports) assert.equal(TargetsHeld, 3);
  });

  test('of the schedule tell each minute whether shards have no holder', () => {
    const { write, taken } = lines();
    const { emit } = functionMetrics({ stage: 'prod', service: 'schedule', clock, write });
    emit({ Shards: 1, ShardsWithoutHolder: 0, MessagesNotSent: 0 });
    assert.deepEqual(taken().map(published), [['ShardsWithoutHolder']]);
  });

  const pod = { pod: 'checkout', namespace: 'default', podUid: 'u' };
  const labels = { probeType: 'readiness', container: 'main', ...pod } as const;
  const view = { targets: 2, probes: 3, quarantined: [], beat: { observedAtMs: 0, behind: {}, late: 1 } };
  const runView = (more: object = {}): RunView => ({ token: 1, inFlight: 0, ...view, ...more }) as unknown as RunView;

  function reporting(look: () => RunView | undefined, memory?: ProcessMemory) {
    const { write, taken } = lines();
    const clock = virtualClock();
    const metrics = functionMetrics({ stage: 'prod', service: 'prober', clock, write });
    const probes = countedProbes();
    return {
      clock,
      probes,
      taken,
      reports: keepReporting({ clock, metrics, probes, view: look, memory: () => memory }),
    };
  }

  test('of a run are emitted once a minute and at its end, and name no target', async () => {
    const { clock, probes, taken, reports } = reporting(() => runView());
    probes.observe(labels, 'successful', 0.2);
    probes.observe(labels, 'failed', 1.5);
    await clock.advance(60_000);
    const [first, ...others] = taken();
    assert.deepEqual(others, []);
    const { ProbesSuccessful, ProbesFailed, ProbesUnknown, ProbeDurationMax } = first;
    assert.deepEqual([ProbesSuccessful, ProbesFailed, ProbesUnknown, ProbeDurationMax], [1, 1, 0, 1_500]);
    assert.deepEqual([first.TargetsHeld, first.ProbesLate, first.ShardsDegraded], [2, 1, 0]);
    assert.doesNotMatch(JSON.stringify(first), /checkout|default/);
    await reports.end({ RunsInDoubt: 1 });
    const [last] = taken();
    // The next run of the shard reports what it holds; here it would count twice.
    assert.deepEqual([last.ProbesSuccessful, last.RunsInDoubt, last.TargetsHeld], [0, 1, undefined]);
    await clock.advance(600_000);
    assert.deepEqual(taken(), []);
  });

  test('of a short run show at its end what it held', async () => {
    const late = { behind: {}, late: 3, observedAtMs: 0, doubt: { reason: 'Network', sinceMs: 0 } };
    const { taken, reports } = reporting(() => runView({ beat: late }));
    await reports.end();
    const [only] = taken();
    assert.deepEqual([only.TargetsHeld, only.ProbesLate, only.ShardsDegraded], [2, 3, 1]);
  });

  for (const [usedMb, short] of [
    [230, 0],
    [231, 1],
  ] as const)
    test(`of a run say how much memory its process takes: ${usedMb} of 256 MB`, async () => {
      const { taken, reports } = reporting(() => runView(), { usedMb, limitMb: 256 });
      await reports.end();
      const [only] = taken();
      assert.deepEqual([only.MemoryUsed, only.MemoryShort], [usedMb, short]);
      assert.deepEqual(published(only), short === 1 ? ['ProbesLate', 'MemoryShort'] : ['ProbesLate']);
    });

  test('of a run that never held its shard say nothing of it', async () => {
    const { taken, reports } = reporting(() => undefined);
    await reports.end();
    assert.equal(taken()[0].TargetsHeld, undefined);
  });
});

test('a warm process keeps the shard that it held last, and nothing of before', () => {
  const kept = { token: 1 } as unknown as ShardMemory extends Map<string, infer Kept> ? Kept : never;
  const memory: ShardMemory = new Map(['00', '80', 'c0'].map((shard) => [shard, kept]));
  assert.deepEqual([...onlyOf(memory, '80').keys()], ['80']);
  assert.deepEqual([...onlyOf(memory, '40').keys()], []);
  assert.equal(memory.size, 0);
});

describe('the deadline of an invocation', () => {
  function invocation(forMs: number) {
    const clock = virtualClock();
    let endsAtMs = clock.monotonicMs() + forMs;
    const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => endsAtMs - clock.monotonicMs() };
    const deadline = invocationDeadline(clock, context);
    return { clock, deadline, cut: (byMs: number) => (endsAtMs -= byMs) };
  }

  for (const [what, forMs, leftMs] of [
    ['leaves a run the time to end in order', 900_000, marginMs],
    ['takes a third of little time', 9_000, 3_000],
  ] as const)
    test(what, async () => {
      const { clock, deadline } = invocation(forMs);
      await clock.advance(forMs - leftMs - 1);
      assert.equal(deadline.signal.aborted, false);
      await clock.advance(1);
      assert.equal(deadline.signal.aborted, true);
    });

  test('comes earlier when the machine stood still', async () => {
    const { clock, deadline, cut } = invocation(900_000);
    cut(600_000);
    await clock.advance(300_000 - marginMs);
    assert.equal(deadline.signal.aborted, true);
  });

  test('waits for nothing once it is cancelled', async () => {
    const { clock, deadline } = invocation(900_000);
    await clock.advance(15_000);
    deadline.cancel();
    await clock.advance(900_000);
    assert.equal(deadline.signal.aborted, false);
  });
});
