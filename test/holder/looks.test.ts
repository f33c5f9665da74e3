/**
 * Neither place of a look asks a target that its worker would not probe: not when the look is asked for, not when it is
 * given, and not when this place asks again.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { specProbes } from '../../shared/core/spec/spec.ts';
import type { TargetSpecInput } from '../../shared/core/spec/spec-input.ts';
import { hungProbeName, rememberHang } from '../../shared/holder/probing/hung-probe.ts';
import { answerLook } from '../../shared/holder/second-look.ts';
import type { LookMessage, SampledProbe } from '../../shared/queue/queue.ts';
import { runKey, targetAddress } from '../../shared/store/records/keys.ts';
import type { Store } from '../../shared/store/store.ts';
import { readTarget } from '../../shared/table/targets.ts';
import { failing, type ShardWorld, shardWorld, type WorldOptions } from '../support/shard-world.ts';

const [itsPort, otherPort] = [99, 1];
/** With `it` one more than may fail before a look is asked for. */
const others = ['a', 'b', 'c', 'd'];
const probe = (port: number, more: object = {}) => ({ tcpSocket: { port }, periodSeconds: 600, ...more });
const spec = (container: object, more: object = {}): TargetSpecInput => ({
  host: '10.0.0.1',
  containers: [{ name: 'app', ...container }],
  ...more,
});
const reported = { lifecycle: 'reported' };
const readiness = spec({ readinessProbe: probe(itsPort) }, reported);
const liveness = spec({ livenessProbe: probe(itsPort) }, reported);
const isReady = { type: 'Ready', status: 'True' };

type Case = {
  readonly spec: TargetSpecInput;
  readonly probeType?: SampledProbe['probeType'];
  /** What makes the worker leave the target alone after its first failure. */
  shut(world: ShardWorld): Promise<unknown>;
};

const reportState = (world: ShardWorld, state: object) =>
  world.report('it', {
    phase: 'Running',
    containerStatuses: [{ name: 'app', containerID: 'test://1', state }],
    conditions: [isReady],
  });

const onHold: Case = {
  spec: spec({ livenessProbe: probe(itsPort, { failureThreshold: 1 }) }, reported),
  probeType: 'liveness',
  shut: async () => undefined,
};

const cases: Readonly<Record<string, Case>> = {
  'is on hold': onHold,
  'does not run': {
    spec: readiness,
    shut: (world) => reportState(world, { waiting: { reason: 'CrashLoopBackOff' } }),
  },
  'has a new container in its initial delay': {
    spec: spec(
      { readinessProbe: probe(itsPort, { initialDelaySeconds: 30, periodSeconds: 10, failureThreshold: 9 }) },
      reported,
    ),
    shut: (world) => world.reportRunning('it', 'test://2'),
  },
  'has a new container that has not started': {
    spec: spec({ readinessProbe: probe(itsPort), startupProbe: probe(98) }, reported),
    shut: (world) => world.reportRunning('it', 'test://2'),
  },
  'has ended': {
    spec: readiness,
    shut: (world) => world.report('it', { phase: 'Succeeded', containerStatuses: [] }),
  },
  terminates: {
    spec: liveness,
    probeType: 'liveness',
    shut: (world) => world.remove('it', 600),
  },
  'is gone': { spec: spec({ readinessProbe: probe(itsPort) }), shut: (world) => world.remove('it', 0) },
  'has another probe': {
    spec: readiness,
    shut: (world) => world.put('it', spec({ livenessProbe: probe(97, { initialDelaySeconds: 600 }) }, reported)),
  },
  'has hung the prober': {
    spec: readiness,
    async shut(world) {
      const read = await readTarget(world.store, targetAddress('default', 'it'));
      const [entry] = read ? specProbes(read.target.spec) : [];
      assert.ok(read && entry);
      for (const _ of [1, 2]) await rememberHang(world, hungProbeName(read.target, entry), world.clock.nowMs());
    },
  },
};

/** A run whose target `it` has failed once. `asked`: the ports that were probed. */
async function failedWorld({ spec: itsSpec }: Pick<Case, 'spec'>, options: WorldOptions = {}) {
  const world = shardWorld(options);
  const [asked, looks]: [number[], LookMessage[]] = [[], []];
  world.answer((_, port) => {
    asked.push(port);
    return port === 98 ? 'success' : failing;
  });
  await world.put('it', itsSpec);
  if (itsSpec.lifecycle === 'reported') await world.reportRunning('it', 'test://1');
  const send = async (look: LookMessage) => void looks.push(look);
  const run = await world.run({}, { secondPlace: { place: 'here', send } });
  await world.clock.advance(45_000);
  assert.ok(asked.includes(itsPort));
  /** Enough other targets fail for a look. */
  const failOthers = async () => {
    for (const [at, name] of others.entries()) await world.put(name, spec({ readinessProbe: probe(otherPort + at) }));
    await world.clock.advance(3_000);
  };
  /** What another place has seen. */
  const answer = async (look: LookMessage) => {
    const { token, number } = look;
    const seen = { token, number, failed: 0, succeeded: look.sample.length };
    await world.store.write([{ kind: 'update', key: runKey('00'), set: { look: seen } }], { token: 'look' });
    await world.clock.advance(1_500);
  };
  return { world, run, asked, looks, failOthers, answer };
}

const namesIn = (look: LookMessage | undefined) => look?.sample.map(({ name }) => name) ?? [];

test('a target that has failed is asked once there, and if it answers there once more here', async () => {
  const { run, asked, looks, failOthers, answer } = await failedWorld({ spec: readiness });
  await failOthers();
  const [look] = looks;
  assert.ok(look && namesIn(look).includes('it'));
  asked.length = 0;
  await answer(look);
  assert.deepEqual(asked.length, look.sample.length);
  assert.ok(asked.includes(itsPort));
  await run.stop();
});

test('a target whose hold is being written is in no look', async () => {
  const written = Promise.withResolvers<void>();
  const wrapStore = (store: Store): Store => ({
    ...store,
    async write(operations, writing) {
      const outcome = await store.write(operations, writing);
      // The answer is late: the table knows of the hold before the run does.
      if (operations.some((one) => one.kind === 'update' && one.set?.onHold === true)) await written.promise;
      return outcome;
    },
  });
  const { world, run, looks, failOthers } = await failedWorld(onHold, { wrapStore });
  assert.ok((await world.probe('it', 'app#liveness')).onHold);
  await failOthers();
  assert.equal(looks.length, 1);
  assert.ok(!namesIn(looks[0]).includes('it'));
  written.resolve();
  await run.stop();
});

for (const [name, { spec: itsSpec, probeType = 'readiness', shut }] of Object.entries(cases))
  describe(`a target that has failed and ${name}`, () => {
    test('is in no look', async () => {
      const { world, run, looks, failOthers } = await failedWorld({ spec: itsSpec });
      await shut(world);
      await world.clock.advance(4_000);
      await failOthers();
      assert.equal(looks.length, 1);
      assert.ok(namesIn(looks[0]).length > 0 && !namesIn(looks[0]).includes('it'));
      await run.stop();
    });

    test('is not asked by a place that is asked to', async () => {
      const { world, run, asked } = await failedWorld({ spec: itsSpec });
      await shut(world);
      await world.clock.advance(4_000);
      asked.length = 0;
      const { token } = await world.runRecord();
      const sample = [{ namespace: 'default', name: 'it', container: 'app', probeType }] as const;
      const look = { kind: 'look', shard: '00', token, place: 'here', number: 1, sample, sentAtMs: 0 } as const;
      assert.ok(await world.clock.runUntil(answerLook(world.ports(), look)));
      assert.deepEqual(asked, []);
      const { look: given } = await world.runRecord();
      assert.deepEqual(given, { token, number: 1, failed: 0, succeeded: 0 });
      await run.stop();
    });

    test('is not asked again here', async () => {
      const { world, run, asked, looks, failOthers, answer } = await failedWorld({ spec: itsSpec });
      await failOthers();
      await shut(world);
      await world.clock.advance(4_000);
      asked.length = 0;
      const [look] = looks;
      assert.ok(look);
      await answer(look);
      assert.ok(asked.length > 0);
      assert.ok(!asked.includes(itsPort));
      await run.stop();
    });
  });
