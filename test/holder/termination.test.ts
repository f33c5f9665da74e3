/**
 * What a termination makes of a target. kubelet derives the status of a pod before it stops liveness and startup, and
 * not again while its containers run (pkg/kubelet/kubelet.go, SyncTerminatingPod): what had not been seen ready or
 * started does not become so, and only readiness has further results.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Attempt } from '../../shared/core/spec/types.ts';
import { type ShardWorld, shardWorld } from '../support/shard-world.ts';

const name = 'checkout';
const graceSeconds = 60;
const ports = { startup: 1, readiness: 2, liveness: 3 } as const;
type Type = keyof typeof ports;

const denied: Attempt = {
  outcome: 'unknown',
  output: '',
  failureClass: 'POLICY_DENIED',
  timings: { totalMs: 0 },
  error: 'the address is denied',
};

/** What the startup or liveness probe had found until the DELETE. */
const findings = {
  'has never been asked': { answer: 'success', more: { initialDelaySeconds: 3_000 } },
  'has failed less often than its threshold': { answer: 'failure', more: { failureThreshold: 1_000 } },
  'has failed': { answer: 'failure', more: { failureThreshold: 1 } },
  'is denied': { answer: denied, more: {} },
  'has succeeded': { answer: 'success', more: {} },
} as const;

const shapes: readonly (readonly Type[])[] = [
  ['startup'],
  ['liveness'],
  ['startup', 'readiness'],
  ['liveness', 'readiness'],
  ['startup', 'liveness', 'readiness'],
];

type Case = {
  readonly lifecycle: 'static' | 'reported';
  readonly kind: 'container' | 'sidecar';
  readonly types: readonly Type[];
  readonly finding: keyof typeof findings;
};

const cases: readonly Case[] = (['static', 'reported'] as const).flatMap((lifecycle) =>
  (['container', 'sidecar'] as const).flatMap((kind) =>
    shapes.flatMap((types) =>
      (Object.keys(findings) as Case['finding'][]).map((finding) => ({ lifecycle, kind, types, finding })),
    ),
  ),
);

const probeOf = (type: Type, more: object) => [
  `${type}Probe`,
  { tcpSocket: { port: ports[type] }, periodSeconds: 1, ...(type !== 'readiness' && more) },
];

async function registered(world: ShardWorld, { lifecycle, kind, types, finding }: Case): Promise<void> {
  const { more } = findings[finding];
  const probed = { name: 'probed', ...Object.fromEntries(types.map((type) => probeOf(type, more))) };
  await world.put(name, {
    lifecycle,
    containers: kind === 'container' ? [probed] : [{ name: 'main' }],
    initContainers: kind === 'sidecar' ? [{ ...probed, restartPolicy: 'Always' }] : [],
  });
  if (lifecycle === 'static') return;
  const running = { state: { running: { startedAt: new Date(world.clock.nowMs()).toISOString() } } };
  const status = { name: 'probed', containerID: 'test://probed', ...running };
  await world.report(name, {
    containerStatuses: kind === 'container' ? [status] : [{ name: 'main', containerID: 'test://main', ...running }],
    initContainerStatuses: kind === 'sidecar' ? [status] : [],
  });
}

async function seen(world: ShardWorld) {
  const { conditions, containerStatuses, initContainerStatuses, probes } = await world.shown(name);
  const probed = [...containerStatuses, ...initContainerStatuses].find((status) => status.name === 'probed');
  return {
    started: probed?.started === true,
    ready: probed?.ready,
    conditions: conditions.map(({ type, status }) => `${type} ${status}`),
    readiness: probes.find(({ probeType }) => probeType === 'readiness')?.result,
  };
}

const listed = async (world: ShardWorld): Promise<number> => {
  const response = await world.request('GET', '/v1/targets?ready=true');
  return ((await response.json()) as { readonly items: readonly unknown[] }).items.length;
};

/** The verdicts of liveness and startup that were published, recorded or asked for since. */
async function verdictsSince(world: ShardWorld, sinceMs: number, published: number): Promise<readonly string[]> {
  const onBus = world
    .publishedEvents('Probe Result Changed')
    .slice(published)
    .map(({ probeType, result, previousResult }) => `bus ${probeType} ${previousResult} -> ${result}`);
  const recorded = (await world.history(name))
    .filter(({ timeMs, kind }) => timeMs > sinceMs && kind === 'transition')
    .map(({ probeType, result, previousResult }) => `history ${probeType} ${previousResult} -> ${result}`);
  return [...onBus, ...recorded].filter((text) => !text.includes(' readiness '));
}

describe('a target that terminates becomes neither ready nor started by it', () => {
  for (const one of cases) {
    const { lifecycle, kind, types, finding } = one;
    test(`${lifecycle} ${kind} with ${types.join(', ')}: the first ${finding}`, async () => {
      const world = shardWorld();
      world.answer((_, port) => (port === ports[types[0] ?? 'startup'] ? findings[finding].answer : 'success'));
      await registered(world, one);
      await world.run();
      await world.clock.advance(8_000);
      const before = await seen(world);
      const isListed = await listed(world);
      const published = world.publishedEvents('Probe Result Changed').length;
      const deletedMs = world.clock.nowMs();
      await world.remove(name, graceSeconds);
      for (let second = 0; second < 20; second += 1) {
        await world.clock.advance(1_000);
        assert.deepEqual(await seen(world), before, `after ${second + 1} s`);
        assert.equal(await listed(world), isListed);
      }
      const results = await verdictsSince(world, deletedMs, published);
      assert.deepEqual(
        results.filter((text) => !/(success|failure|unknown) -> undefined$/.test(text)),
        [],
      );
    });
  }
});

const stopped = ['liveness', 'startup'] as const;

const probed = (type: Type, failureThreshold: number) => ({
  containers: [{ name: 'app', [`${type}Probe`]: { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold } }],
});

describe('after the answer to DELETE no probe begins that a holder in the same process would make', () => {
  for (const type of stopped)
    test(`of ${type}`, async () => {
      const world = shardWorld({ oneProcess: true });
      world.answer(() => 'failure');
      await world.put(name, probed(type, 1_000));
      await world.run();
      await world.clock.advance(4_500);
      await world.remove(name, graceSeconds);
      const probes = world.probes();
      await world.clock.advance(20_000);
      assert.equal(world.probes(), probes);
    });
});

describe('a probe under way at the DELETE publishes no failure', () => {
  const places = { 'in one process': true, 'with the holder in another': false } as const;
  const isFailure = (text: string) => /Unhealthy|Restart|"result":"failure"/.test(text);

  for (const type of stopped)
    for (const [where, oneProcess] of Object.entries(places))
      test(`of ${type}, ${where}`, async () => {
        const world = shardWorld({ oneProcess });
        world.answer(() => (type === 'startup' ? 'failure' : 'success'));
        await world.put(name, probed(type, 4));
        await world.run();
        await world.clock.advance(2_500);
        let asked = 0;
        world.answer(() => {
          asked += 1;
          return { outcome: 'failure', ms: 700 };
        });
        while (asked === 0) await world.clock.advance(100);
        const published = world.published.length;
        const before = new Set((await world.history(name)).map(({ id }) => id));
        await world.remove(name, graceSeconds);
        await world.clock.advance(10_000);
        const since = world.published.slice(published).map((event) => JSON.stringify(event));
        const recorded = (await world.history(name)).filter(({ id }) => !before.has(id));
        const all = [...since, ...recorded.map((event) => JSON.stringify(event))];
        assert.deepEqual(all.filter(isFailure), []);
      });
});

test('nothing is published of a probe that has no verdict when its target terminates', async () => {
  const world = shardWorld();
  const probe = { tcpSocket: { port: 1 }, periodSeconds: 1, initialDelaySeconds: 300 };
  await world.put(name, { livenessProbe: probe, startupProbe: probe, readinessProbe: probe });
  await world.run();
  await world.clock.advance(5_000);
  await world.remove(name, 5);
  await world.clock.advance(20_000);
  assert.deepEqual(world.publishedEvents('Probe Result Changed'), []);
  assert.deepEqual(
    (await world.history(name)).filter(({ kind }) => kind === 'transition'),
    [],
  );
});

describe('readiness has further results, also if the holder learns of the deletion together with', () => {
  const probe = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 3 };
  const app = {
    name: 'app',
    livenessProbe: probe,
    startupProbe: probe,
    readinessProbe: { ...probe, tcpSocket: { port: 2 } },
  };
  const side = { name: 'side', restartPolicy: 'Always', livenessProbe: probe, startupProbe: probe } as const;
  const spec = (lifecycle: 'static' | 'reported', ...initContainers: readonly (typeof side)[]) => ({
    lifecycle,
    containers: [app],
    initContainers,
  });
  const reported = (world: ShardWorld, of: string, id: number) => ({
    name: of,
    containerID: `test://${of}/${id}`,
    state: { running: { startedAt: new Date(world.clock.nowMs()).toISOString() } },
  });
  const report = (world: ShardWorld, sideId: number) =>
    world.report(name, {
      containerStatuses: [reported(world, 'app', 1)],
      initContainerStatuses: [reported(world, 'side', sideId)],
    });

  type Change = (world: ShardWorld) => Promise<unknown>;
  const changes: readonly (readonly [what: string, before: Change, change: Change])[] = [
    [
      'a sidecar that is new',
      (world) => world.put(name, spec('static')),
      (world) => world.put(name, spec('static', side)),
    ],
    [
      'the restart of a sidecar',
      (world) => world.put(name, spec('static', side)),
      (world) => world.request('POST', `/v1/namespaces/default/targets/${name}/restarted`, { container: 'side' }),
    ],
    [
      'another container of a sidecar',
      async (world) => {
        await world.put(name, spec('reported', side));
        await report(world, 1);
      },
      (world) => report(world, 2),
    ],
  ];
  for (const [what, before, change] of changes)
    test(what, async () => {
      const world = shardWorld();
      world.answer(() => 'success');
      await before(world);
      await world.run();
      await world.clock.advance(10_000);
      await change(world);
      await world.remove(name, graceSeconds);
      world.answer((_, port) => (port === 2 ? 'failure' : 'success'));
      await world.clock.advance(8_000);
      const { conditions, probes } = await world.shown(name);
      const readiness = probes.find(({ container, probeType }) => container === 'app' && probeType === 'readiness');
      assert.equal(readiness?.result, 'failure');
      assert.equal(conditions.find(({ type }) => type === 'Ready')?.status, 'False');
    });
});
