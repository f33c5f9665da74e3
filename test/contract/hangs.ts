/** What is remembered of a hang, in any store. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { rememberHang } from '../../shared/holder/probing/hung-probe.ts';
import { decodeHang, encodeTarget } from '../../shared/store/records/items.ts';
import { changesKey, hangKey, targetAddress, targetKey } from '../../shared/store/records/keys.ts';
import { immediateClock } from '../support/immediate-clock.ts';
import { targetRecordOf } from '../support/pods.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { testsIn } from '../support/tests-in.ts';
import type { OpenedStore } from './store.ts';

/** Registers the contract's tests for one adapter. Each test has a target of its own. */
export function hangContract(title: string, open: () => OpenedStore | Promise<OpenedStore>): void {
  describe(`${title} remembers hangs`, () => {
    let opened: OpenedStore;
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    let targets = 0;

    async function registered() {
      targets += 1;
      const target = targetRecordOf({ name: `t${targets}`, generation: 3 });
      const address = targetAddress(target.namespace, target.name);
      const { store } = opened;
      await store.write([{ kind: 'put', item: encodeTarget(address, target) }], { token: target.name });
      const ports = { store, clock: immediateClock(), random: seededRandom(targets) };
      return {
        hang(probe: string, generation = target.generation, nowMs = 1_000) {
          const [container = '', probeType = ''] = probe.split('#');
          return rememberHang(
            ports,
            `default\n${target.name}\n${target.uid}\n${generation}\n${container}\n${probeType}`,
            nowMs,
          );
        },
        async record() {
          const item = await store.get(hangKey(address));
          const decoded = item && decodeHang(item);
          return decoded?.kind === 'ok' ? decoded.record : decoded;
        },
        remove: () => store.write([{ kind: 'delete', key: targetKey(address) }], { token: `gone ${target.name}` }),
        changes: async () => (await store.get(changesKey(address.bucket)))?.[address.slice],
      };
    }

    const rule = testsIn(registered);

    rule('each probe has its count, and the last time', async (world) => {
      await world.hang('app#readiness');
      await world.hang('app#liveness');
      await world.hang('app#readiness', 3, 2_000);
      const hangs = { 'app#readiness': 2, 'app#liveness': 1 };
      assert.deepEqual(await world.record(), { uid: 'u1', version: 3, generation: 3, hungAtMs: 2_000, hangs });
    });

    rule('another generation of the spec begins at zero', async (world) => {
      await world.hang('app#readiness');
      await world.hang('app#readiness', 4);
      const hangs = { 'app#readiness': 1 };
      assert.deepEqual(await world.record(), { uid: 'u1', version: 2, generation: 4, hungAtMs: 1_000, hangs });
    });

    rule('the holder of the target learns that it changed', async (world) => {
      await world.hang('app#readiness');
      assert.equal(await world.changes(), 1);
    });

    rule('nothing is left of a target that is gone', async (world) => {
      await world.remove();
      await world.hang('app#readiness');
      assert.equal(await world.record(), undefined);
    });

    rule('two that are remembered at once both count', async (world) => {
      await Promise.all([world.hang('app#readiness'), world.hang('app#readiness')]);
      const hangs = { 'app#readiness': 2 };
      assert.deepEqual(await world.record(), { uid: 'u1', version: 2, generation: 3, hungAtMs: 1_000, hangs });
    });

    test('what is no name of a probe is ignored', async () => {
      const { store } = opened;
      for (const name of ['', 'default\nx', 'garbage'])
        await rememberHang({ store, clock: immediateClock(), random: seededRandom(1) }, name, 1);
    });
  });
}
