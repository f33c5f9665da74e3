/** A prober asks another place before many targets turn unhealthy, and doubts itself while that one disagrees. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProbeReport } from '../../../shared/core/kubelet/probe-report.ts';
import type { Run } from '../../../shared/holder/run.ts';
import type { Dialled } from '../../../shared/holder/self-check/second-place.ts';
import { selfWatch } from '../../../shared/holder/self-check/self-check.ts';
import type { ProbeOrder } from '../../../shared/prober/probe.ts';
import { type LookMessage, QueueUnavailable } from '../../../shared/queue/queue.ts';
import { runKey } from '../../../shared/store/records/keys.ts';
import type { Item } from '../../../shared/store/store.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const failure: ProbeReport = { conclusion: { kind: 'result', result: 'failure' }, attempts: [] };
const success: ProbeReport = { conclusion: { kind: 'result', result: 'success' }, attempts: [] };
const orderOf = (index: number, uid: number) =>
  ({
    target: { namespace: 'shop', name: `t${index}`, uid: `uid-${uid}` },
    container: { name: 'c' },
    handler: { tcpSocket: { port: 80 } },
    probeType: 'readiness',
  }) as ProbeOrder;
const dialledOf = (index: number, uid: number, isProbed: () => boolean): Dialled => {
  const order = orderOf(index, uid);
  return { spec: { order }, orderNow: () => (isProbed() ? order : undefined) };
};

const run = { token: 7, generation: 1, slot: 1, doneSlot: 0, beat: 3, beatAtMs: 0, observedAtMs: 0, degraded: false };

type Seen = { readonly failed: number; readonly succeeded: number };

/**
 * A prober whose canary answers. `seen`: what the other place says of each look; undefined: nothing. `here`: what the
 * targets of the look answer this prober by then.
 */
function world(seen: Seen | undefined | 'unreachable', here: 'success' | 'failure' = 'failure') {
  const clock = virtualClock();
  const looks: LookMessage[] = [];
  let looksHere = 0;
  /** Targets that no worker would probe now. */
  const shut = new Set<number>();
  let item: Item = { ...runKey('00'), kind: 'RUN', schemaVersion: 1, ...run };
  const end = new AbortController();
  const send = async (look: LookMessage) => {
    if (seen === 'unreachable') throw new QueueUnavailable('simulated');
    looks.push(look);
    if (seen) item = { ...item, look: { token: look.token, number: look.number, ...seen } };
  };
  const ports = {
    clock,
    log: recordingLog(),
    random: { next: () => 0 },
    probers: {
      tcp: async () => {
        looksHere += 1;
        return { outcome: here, output: '', timings: { totalMs: 1 } };
      },
    },
    canaries: [{ host: '10.0.0.1', port: 443 }],
    dial: async () => ({ kind: 'failed', failureClass: 'CONNECT_REFUSED', message: 'refused' }),
    store: { get: async () => item },
    secondPlace: { place: 'here', send },
  };
  const self = selfWatch(
    {
      ports,
      token: run.token,
      message: { shard: '00' },
      signal: end.signal,
      ended: () => (end.signal.aborted ? { kind: 'slotDone' } : undefined),
    } as unknown as Run,
    false,
    () => undefined,
  );
  /** Whether the report of this target's probe counts. */
  const probe = async (index: number, report: ProbeReport, { turns = false, changes = true, uid = index } = {}) => {
    const watched = self.watch();
    await clock.advance(200);
    const about = {
      reach: 'network',
      changes,
      confirms: report === success,
      turns,
      dialled: dialledOf(index, uid, () => !shut.has(index)),
    } as const;
    const judged = await clock.runUntil(Promise.resolve(watched.judge(report, about)));
    watched.done();
    return judged === report;
  };
  const probeAll = async (report: ProbeReport, options?: { readonly turns: boolean }) => {
    const counted: boolean[] = [];
    for (let index = 0; index < 12; index += 1) counted.push(await probe(index, report, options));
    return counted;
  };
  return { clock, self, looks, looksHere: () => looksHere, shut, probe, probeAll, end: () => end.abort() };
}

describe('a prober with another place', () => {
  test('asks for no look while few fail, or only what is known as failed', async () => {
    const { probe, probeAll, looks } = world({ failed: 5, succeeded: 0 });
    await probeAll(success);
    for (const index of [1, 2, 3]) await probe(index, failure);
    for (let index = 0; index < 12; index += 1) await probe(index, failure, { changes: false });
    assert.deepEqual(looks, []);
  });

  test('asks for one before the first of many turns, with five of them', async () => {
    const { probeAll, looks } = world({ failed: 5, succeeded: 0 });
    await probeAll(success);
    await probeAll(failure);
    const turned = await probeAll(failure, { turns: true });
    assert.ok(turned.every(Boolean));
    assert.equal(looks.length, 1);
    const { sample = [], ...look } = looks[0] ?? {};
    assert.deepEqual(
      { ...look, sentAtMs: 0 },
      { kind: 'look', shard: '00', token: 7, place: 'here', number: 1, sentAtMs: 0 },
    );
    assert.deepEqual(sample[0], { namespace: 'shop', name: 't0', container: 'c', probeType: 'readiness' });
    assert.ok(sample.length <= 5 && new Set(sample.map(({ name }) => name)).size === sample.length);
  });

  test('has each name once in it, also of a target that was registered again', async () => {
    const { probe, looks } = world({ failed: 5, succeeded: 0 });
    for (const uid of [1, 101, 201, 301, 401]) await probe(1, failure, { uid });
    assert.equal(looks[0]?.sample.length, 1);
  });

  test('fails nothing while that one reaches what fails here', async () => {
    const { probeAll, self } = world({ failed: 1, succeeded: 4 });
    await probeAll(success);
    await probeAll(failure);
    assert.ok(!(await probeAll(failure, { turns: true })).some(Boolean));
    const health = self.health();
    assert.equal(health.kind !== 'sound' && health.reason, 'SecondPlaceDisagrees');
  });

  test('believes itself if what succeeds there succeeds here again, too', async () => {
    const { probeAll, self, looksHere } = world({ failed: 0, succeeded: 5 }, 'success');
    await probeAll(success);
    await probeAll(failure);
    assert.ok((await probeAll(failure, { turns: true })).every(Boolean));
    assert.deepEqual([self.health().kind, looksHere()], ['sound', 4]);
  });

  test('does not probe again what fails there, too', async () => {
    const { probeAll, looksHere } = world({ failed: 4, succeeded: 1 });
    await probeAll(failure);
    assert.equal(looksHere(), 0);
  });

  test('asks nobody about what its worker would not probe', async () => {
    for (const open of [['t0', 't3'], []]) {
      const { probeAll, shut, looks } = world({ failed: 5, succeeded: 0 });
      for (let index = 0; index < 12; index += 1) if (!open.includes(`t${index}`)) shut.add(index);
      await probeAll(failure);
      const asked = looks.flatMap(({ sample }) => sample.map(({ name }) => name));
      assert.deepEqual(asked.toSorted(), open);
    }
  });

  test('probes none again that its worker would not probe any more, and then believes itself', async () => {
    for (const left of [1, 0]) {
      const { probe, self, shut, looksHere } = world({ failed: 0, succeeded: 4 });
      for (const index of [0, 1, 2, 3]) await probe(index, failure);
      for (const index of [0, 1, 2, 3].slice(left)) shut.add(index);
      await probe(4, failure, { turns: true });
      assert.deepEqual([looksHere(), self.health().kind === 'sound'], [left, left === 0]);
    }
  });

  test('asks again while it doubts, and trusts itself once its probes succeed', async () => {
    const { probeAll, self, looks, clock } = world({ failed: 0, succeeded: 5 });
    await probeAll(failure);
    for (let round = 0; round < 12; round += 1) await probeAll(failure, { turns: true });
    assert.ok(looks.length >= 2 && looks.length <= 4, `${looks.length} looks in 31 s`);
    await probeAll(success);
    await clock.advance(5_000);
    assert.equal(self.health().kind, 'sound');
  });

  test('asks again soon if that one could look at none of them', async () => {
    for (const [failed, looksIn29s] of [
      [0, 2],
      [1, 1],
    ] as const) {
      const { probeAll, looks } = world({ failed, succeeded: 0 });
      for (let round = 0; round < 12; round += 1) assert.ok((await probeAll(failure)).every(Boolean));
      assert.equal(looks.length, looksIn29s);
    }
  });

  test('believes itself if no place answers in 15 s, or the queue takes nothing', async () => {
    for (const seen of [undefined, 'unreachable'] as const) {
      const { probeAll } = world(seen);
      await probeAll(failure);
      assert.ok((await probeAll(failure, { turns: true })).every(Boolean));
    }
  });

  for (const how of ['ends', 'is to end'])
    test(`waits for no answer when its run ${how}, and what waited for it counts no more`, async () => {
      const { probeAll, probe, self, end, clock } = world(undefined);
      await probeAll(failure);
      const turning = probe(1, failure, { turns: true });
      await clock.advance(1_000);
      const beganMs = clock.monotonicMs();
      if (how === 'ends') end();
      await clock.runUntil(self.stop());
      assert.equal(clock.monotonicMs() - beganMs, 0);
      assert.equal(await turning, false);
      assert.equal(clock.pending(), 0);
    });
});
