/** The answer to a change shows the status that follows from it, which status-sync writes a moment later. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TargetView } from '../../shared/api/schema/target-schema.ts';
import { type ShardWorld, shardWorld } from '../support/shard-world.ts';

const name = 'checkout';
const path = `/v1/namespaces/default/targets/${name}`;
const probe = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 1 };
const app = { name: 'app', livenessProbe: probe, readinessProbe: probe };

/** Below the time in which a holder notices a change. */
const syncedMs = 500;

const running = (world: ShardWorld, containerID: string) => ({
  containerStatuses: [
    { name: 'app', containerID, state: { running: { startedAt: new Date(world.clock.nowMs()).toISOString() } } },
  ],
});
const waiting = {
  containerStatuses: [{ name: 'app', containerID: 'test://1', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
};
const spec = (lifecycle: string, ...containers: readonly object[]) => ({
  spec: { host: '127.0.0.1', lifecycle, containers: [app, ...containers] },
});

type Change = (world: ShardWorld, lifecycle: string) => Promise<Response>;

const changes: { readonly [what: string]: { readonly of: readonly string[]; readonly change: Change } } = {
  'a report of another container': {
    of: ['reported'],
    change: (world) => world.report(name, running(world, 'test://2')),
  },
  'a report that the container does not run': { of: ['reported'], change: (world) => world.report(name, waiting) },
  'the report of a restart': { of: ['static'], change: (world) => world.restarted(name) },
  'a container more by PUT': {
    of: ['static', 'reported'],
    change: (world, lifecycle) => world.request('PUT', path, spec(lifecycle, { name: 'more', livenessProbe: probe })),
  },
  'a probe less by PATCH': {
    of: ['static', 'reported'],
    change: (world) => world.request('PATCH', path, { spec: { containers: [{ name: 'app', readinessProbe: probe }] } }),
  },
  'the beginning of its termination': { of: ['static', 'reported'], change: (world) => world.remove(name, 60) },
};

const comparable = ({ phase, conditions, containerStatuses, probes }: TargetView['status']) => ({
  phase,
  conditions: conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message })),
  containerStatuses,
  probes: probes.map(({ container, probeType, result, reason }) => ({ container, probeType, result, reason })),
});

describe('the answer to a change shows the status after', () => {
  for (const [what, { of, change }] of Object.entries(changes))
    for (const lifecycle of of)
      for (const finding of ['success', 'failure'] as const)
        test(`${what} of a ${lifecycle} target whose probes end in ${finding}`, async () => {
          const world = shardWorld();
          world.answer(() => finding);
          await world.request('PUT', path, spec(lifecycle));
          if (lifecycle === 'reported') await world.report(name, running(world, 'test://1'));
          await world.run();
          await world.clock.advance(5_000);
          const { status } = (await (await change(world, lifecycle)).json()) as TargetView;
          await world.clock.advance(syncedMs);
          assert.deepEqual(comparable(status), comparable(await world.shown(name)));
        });
});
