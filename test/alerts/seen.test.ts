/** Patterns of alerts see the present state of a target as its events do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seenTarget } from '../../shared/alerts/seen.ts';
import { targetAddress } from '../../shared/store/keys.ts';
import { readTarget } from '../../shared/table/targets.ts';
import { heldWorld } from '../support/shard-world.ts';

const tcp = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 2 };

test('a target with a failing sidecar is seen as its last events show it', async () => {
  const sidecar = { name: 'proxy', restartPolicy: 'Always' as const, livenessProbe: tcp };
  const spec = { restartPolicy: 'Never' as const, initContainers: [sidecar], containers: [{ name: 'app' }] };
  const { world } = await heldWorld({ shop: spec }, 2_000);
  world.answer(() => 'failure');
  await world.clock.advance(5_000);
  const state = await readTarget(world.store, targetAddress('default', 'shop'));
  const seen = state && seenTarget(state, world.clock.nowMs());
  assert.ok(seen?.kind === 'target');

  const changed = world.publishedEvents('Target Status Changed').at(-1);
  const { newStatus, resourceVersion } = detailOf(seen.event);
  assert.deepEqual(newStatus, changed?.newStatus);
  assert.ok(Number(resourceVersion) >= Number(changed?.resourceVersion));

  const requested = world.publishedEvents('Container Restart Requested').at(-1);
  assert.equal(requested?.container, 'proxy');
  assert.deepEqual(detailOf(seen.restart?.event), requested);
});

const detailOf = (event: unknown) => (event as { readonly detail: { readonly [field: string]: unknown } }).detail;
