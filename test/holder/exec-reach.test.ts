/** A command that runs elsewhere is asked for over the network, so its silence may be the prober's own doing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reach } from '../../shared/core/self/health.ts';
import type { DialFailure } from '../../shared/net/net.ts';
import { shardWorld } from '../support/shard-world.ts';

const unreachable: DialFailure = { kind: 'failed', failureClass: 'CONNECT_TIMEOUT', message: 'i/o timeout' };

/** The result of an exec probe that fails after it has succeeded, while no canary answers. */
async function resultInTheDark(execReach?: Reach) {
  const world = shardWorld();
  const livenessProbe = { exec: { command: ['check'] }, periodSeconds: 10, failureThreshold: 1 };
  await world.put('a', { livenessProbe });
  // From the beginning of a slot, so that one run has all of it.
  await world.toNextSlot();
  const dark = { dial: async () => unreachable, canaries: [{ host: '10.0.0.1', port: 443 }] };
  await world.run({}, { ...dark, ...(execReach && { execReach }) });
  await world.clock.advance(20_000);
  world.answer(() => 'failure');
  await world.clock.advance(60_000);
  const { result } = await world.probe('a', 'main#liveness');
  return result;
}

test('a command on this machine fails also while the network is gone', async () =>
  assert.equal(await resultInTheDark(), 'failure'));

test('a command that runs elsewhere does not fail while the way there is gone', async () =>
  assert.equal(await resultInTheDark('network'), 'success'));

test('… and does when only another way is', async () => assert.equal(await resultInTheDark('loopback'), 'failure'));
