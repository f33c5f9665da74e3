/** A place among the sockets is for a probe that uses a socket, and for as long as it does. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descriptorsMax } from '../../../shared/core/self/sockets.ts';
import { newSocketBudget } from '../../../shared/holder/probing/sockets.ts';
import { failing, probedWorld } from '../../support/shard-world.ts';
import { beforeWrite } from '../../support/store-wraps.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const targets = 600;

/** Targets on a store that answers no write to a PROBE item while `isStuck`. */
async function stuckWorld(probe: object = {}) {
  const stuck = { isStuck: false };
  const wrapStore = beforeWrite((operations) => {
    const isCommit = operations.some((each) => 'key' in each && each.key.sk.includes('#PROBE#'));
    return stuck.isStuck && isCommit ? new Promise(() => undefined) : undefined;
  });
  const socketBudget = newSocketBudget(virtualClock());
  return { stuck, socketBudget, world: await probedWorld({ targets, socketBudget, wrapStore, probe }) };
}

test('a probe whose container is new keeps no socket while its commit waits', async () => {
  const { stuck, socketBudget, world } = await stuckWorld();
  stuck.isStuck = true;
  const run = await world.hold();
  await world.clock.advance(10_000);
  assert.equal(run.view()?.inFlight, targets, 'cycles that wait for their commit');
  assert.ok(socketBudget.hasFor('steady', descriptorsMax), 'places are taken');
});

test('a probe whose result changed keeps no socket while its commit waits', async () => {
  const { stuck, socketBudget, world } = await stuckWorld({ failureThreshold: 1 });
  const run = await world.hold();
  await world.clock.advance(60_000);
  stuck.isStuck = true;
  world.answer(() => failing);
  await world.clock.advance(10_500);
  const { inFlight = 0 } = run.view() ?? {};
  assert.ok(inFlight > 100, `${inFlight} cycles wait for their commit`);
  assert.ok(socketBudget.hasFor('steady', descriptorsMax), 'places are taken');
});
