import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { keptMemory } from '../../shared/prober/kept-memory.ts';
import { probeUrl } from '../support/probe-url.ts';
import { portOf } from '../support/tcp-server.ts';
import { startWireServer, type WireAction } from '../support/wire-server.ts';

const kib = 1024;
const ofOneProbe = 256 * kib;

describe('what is kept of peers', () => {
  test('is bounded for one probe', () => {
    const kept = keptMemory().open();
    assert.deepEqual([kept.reserve(ofOneProbe - 1), kept.reserve(1), kept.reserve(1)], [true, true, false]);
  });

  test('is bounded for all together, but what each has of its own', () => {
    const memory = keptMemory();
    const greedy = Array.from({ length: 18 }, () => memory.open());
    const had = greedy.map((probe) => probe.reserve(ofOneProbe));
    assert.deepEqual(had, [...Array(17).fill(true), false]);
    assert.equal(greedy[17]?.reserve(16 * kib + 16 * kib), true, 'what 17 of them did not need of their own is left');
    assert.equal(greedy[17]?.reserve(1), false);
    const neighbour = memory.open();
    assert.deepEqual([neighbour.reserve(16 * kib), neighbour.reserve(1)], [true, false]);
  });

  test('is free again once its probe is over', () => {
    const memory = keptMemory();
    for (let round = 0; round < 100; round += 1) {
      const probe = memory.open();
      assert.equal(probe.reserve(ofOneProbe), true, `round ${round}`);
      probe.close();
      probe.close();
    }
  });
});

describe('a head', () => {
  /** Probes a server whose answer has this field. */
  async function probed(t: TestContext, field: string, value: WireAction) {
    const actions = [{ send: `HTTP/1.1 200 OK\r\n${field}: ` }, value, { send: '\r\nContent-Length: 4\r\n\r\nfine' }];
    return probeUrl(`http://127.0.0.1:${await portOf(t, startWireServer({ kind: 'raw', routes: { '*': actions } }))}/`);
  }

  test('of nearly 10 MiB that decides nothing is read', async (t) => {
    const { outcome, output } = await probed(t, 'X', { send: 'y'.repeat(1024 * kib), repeat: 9 });
    assert.deepEqual([outcome, output], ['success', 'fine']);
  });

  test('with a location of 300 KiB is a prober error', async (t) => {
    const { outcome, failureClass, error } = await probed(t, 'Location', { send: 'y'.repeat(kib), repeat: 300 });
    assert.deepEqual([outcome, failureClass, error], ['unknown', 'PROBER', 'what the peer sends is too large to keep']);
  });
});
