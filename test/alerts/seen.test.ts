/** Patterns of alerts see the present state of a target as its events do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seenTarget } from '../../shared/alerts/seen.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
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

test('the message begins with what the probe has said, and ends with the condition', async () => {
  const readinessProbe = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 1 };
  const { world } = await heldWorld(
    { shop: { containers: [{ name: 'app', readinessProbe, livenessProbe: tcp }] } },
    2_000,
  );
  world.answer(() => 'failure');
  await world.clock.advance(5_000);
  const state = await readTarget(world.store, targetAddress('default', 'shop'));
  const seen = state && seenTarget(state, world.clock.nowMs());
  assert.ok(seen?.kind === 'target');
  assert.match(seen.message, /^app (readiness|liveness): .+; containers with unready status: \[app\]$/);
  assert.match(seen.restart?.message ?? '', /^app liveness: .+; Container app failed liveness probe/);
});

test('a failed command that printed nothing is told all the same', async () => {
  const livenessProbe = { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 1 };
  const { world } = await heldWorld({ shop: { containers: [{ name: 'app', livenessProbe }] } }, 2_000);
  world.answer(() => ({ outcome: 'failure', output: '', failureClass: 'EXEC_EXIT', timings: { totalMs: 1 } }));
  await world.clock.advance(5_000);
  const state = await readTarget(world.store, targetAddress('default', 'shop'));
  const seen = state && seenTarget(state, world.clock.nowMs());
  assert.ok(seen?.kind === 'target');
  assert.match(seen.message, /^app liveness: the command printed nothing, and its exit code was not 0; /);
});

const detailOf = (event: unknown) => (event as { readonly detail: { readonly [field: string]: unknown } }).detail;
