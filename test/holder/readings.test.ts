/** What the metrics of a process say of a target while it is held, and that it is what the API shows. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DialFailure } from '../../shared/net/net.ts';
import { proberError } from '../support/prober-error.ts';
import { type ShardRun, type ShardWorld, shardWorld } from '../support/shard-world.ts';

const unreachable: DialFailure = { kind: 'failed', failureClass: 'CONNECT_TIMEOUT', message: 'i/o timeout' };
/** Not of this machine, so that only a prober with a network can tell that it is down. */
const readinessProbe = { tcpSocket: { host: '10.0.0.2', port: 1 }, periodSeconds: 10, failureThreshold: 2 };

type Given = {
  readonly ports?: Parameters<ShardWorld['run']>[1];
  readonly answer?: Parameters<ShardWorld['answer']>[0];
};

type Held = { readonly world: ShardWorld; readonly run: ShardRun };

/** A test of a run with most of its slot before it. */
function heldTest(name: string, holds: (held: Held) => Promise<void>, { ports = {}, answer }: Given = {}): void {
  test(name, async () => {
    const world = shardWorld();
    await world.toNextSlot();
    await world.put('a', { readinessProbe });
    if (answer) world.answer(answer);
    const run = await world.run({}, ports);
    await holds({ world, run });
    await run.stop();
  });
}

const readingsOf = (run: ShardRun) => [...(run.view()?.readings() ?? [])];

/** Of the only target: its condition Ready, and the result of its only probe. */
const shownOf = (run: ShardRun) => readingsOf(run).map(({ ready, probes }) => [ready, probes[0]?.result])[0];

describe('the reading of a target', () => {
  const isUnknown = async ({ run }: Held) => {
    assert.deepEqual(readingsOf(run)[0]?.probes, [{ container: 'main', probeType: 'readiness', result: 'unknown' }]);
    assert.equal(readingsOf(run)[0]?.ready, 'Unknown');
  };
  heldTest('is unknown until the first verdict, without times', isUnknown, { answer: () => new Promise(() => {}) });

  heldTest('is that of the last verdict, and stays while the target is down', async ({ world, run }) => {
    await world.clock.advance(15_000);
    assert.deepEqual(shownOf(run), ['True', 'success']);
    world.answer(() => 'failure');
    await world.clock.advance(30_000);
    assert.deepEqual(shownOf(run), ['False', 'failure']);
    const early = readingsOf(run)[0]?.probes[0];
    await world.clock.advance(300_000);
    assert.deepEqual(shownOf(run), ['False', 'failure']);
    const later = readingsOf(run)[0]?.probes[0];
    assert.equal(later?.lastChangeAtMs, early?.lastChangeAtMs);
    const sinceProbeMs = world.clock.nowMs() - (later?.lastProbeAtMs ?? 0);
    assert.ok(sinceProbeMs <= 10_000, `${sinceProbeMs} ms since the last probe`);
  });

  for (const [what, failureClass, probes] of [
    ['a denied dial', 'POLICY_DENIED', 1],
    ['a prober error that stands', 'PROBER', 2],
  ] as const)
    heldTest(`is unknown after ${what}`, async ({ world, run }) => {
      await world.clock.advance(15_000);
      world.answer(() => proberError(failureClass));
      await world.clock.advance(probes * 10_000);
      assert.deepEqual(shownOf(run), ['Unknown', 'unknown']);
    });

  heldTest('is unknown once the probe is late', async ({ world, run }) => {
    await world.clock.advance(15_000);
    world.answer(() => new Promise(() => {}));
    await world.clock.advance(30_000);
    assert.deepEqual(shownOf(run), ['True', 'success']);
    await world.clock.advance(30_000);
    assert.deepEqual(shownOf(run), ['Unknown', 'unknown']);
    assert.equal(run.view()?.beat.late, 1);
  });

  const inDoubt = async ({ world, run }: Held) => {
    await world.clock.advance(15_000);
    world.answer(() => 'failure');
    await world.clock.advance(25_000);
    assert.ok(run.view()?.beat.doubt);
    assert.deepEqual(shownOf(run), ['Unknown', 'unknown']);
  };
  const ports = { canaries: [{ host: '10.0.0.1', port: 443 }], dial: async () => unreachable };
  heldTest('is unknown while the prober doubts itself', inDoubt, { ports });

  heldTest('ends with its probe, and with its target', async ({ world, run }) => {
    await world.clock.advance(15_000);
    await world.put('a', { livenessProbe: readinessProbe });
    const types = () => readingsOf(run)[0]?.probes.map(({ probeType }) => probeType);
    await world.until('another probe', () => types()?.join() === 'liveness');
    await world.remove('a', 0);
    await world.until('no target', () => readingsOf(run).length === 0);
  });

  heldTest('counts the restarts that were reported', async ({ world, run }) => {
    await world.clock.advance(15_000);
    await world.restarted('a');
    await world.clock.advance(15_000);
    assert.deepEqual(readingsOf(run)[0]?.containers, [{ name: 'main', restarts: 1 }]);
  });
});

heldTest('the age of the beat restarts with each beat, and grows once the run is over', async ({ world, run }) => {
  await world.clock.advance(300_000);
  const age = () => run.view()?.beatAgeMs ?? 0;
  assert.ok(age() < 6_000, `${age()} ms`);
  await run.stop();
  await world.clock.advance(60_000);
  assert.ok(age() >= 60_000, `${age()} ms`);
});
