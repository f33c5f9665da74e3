/**
 * A caller that may put events on the bus, send to a queue or invoke a function may send anything. No function throws
 * at it, and none believes it: what the table says is all that a status is made of.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiFunction } from '../../functions/api/api.ts';
import { functionLog } from '../../functions/lambda/log.ts';
import { functionMetrics } from '../../functions/lambda/metrics.ts';
import { proberFunction } from '../../functions/prober/prober.ts';
import { statusSyncFunction } from '../../functions/status-sync/status-sync.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import { reachOf } from '../../shared/core/self/health.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { sqsClient } from '../../shared/queue/sqs-call.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import type { Store } from '../../shared/store/store.ts';
import { serverKeys } from '../support/aws-json-server.ts';
import { httpEvent } from './http-events.ts';
import { context } from './invocation.ts';

const authorizer = { iam: { userArn: 'arn:aws:iam::000000000000:user/someone' } };
const target = { namespace: 'default', name: 'known' };
const path = '/v1/namespaces/default/targets/known';
const manifest = { spec: { host: '127.0.0.1', readinessProbe: { tcpSocket: { port: 9 } } } };

/** The functions on one store, with one log. */
function world() {
  const [clock, random] = [systemClock, systemRandom];
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = functionLog({ service: 'test', write, nowMs: Date.now });
  const metrics = functionMetrics({ service: 'status-sync', stage: 'test', clock, write: () => {} });
  const store: Store = sqliteStore({ path: ':memory:' });
  const bus = inProcessBus({ clock, random, log });
  const published: string[] = [];
  bus.subscribe({ source: ['probelet'] }, ({ 'detail-type': type }) => void published.push(type), { name: 'test' });
  const ports = { clock, random, log, metrics, store, bus };
  // Nothing listens there: an event that is taken for a message would be seen by what it asks.
  const client = sqsClient({ region: 'us-east-1', credentials: serverKeys });
  const prober = proberFunction({
    ...ports,
    newStore: () => store,
    queue: { client, queueUrl: 'http://127.0.0.1:9/000000000000/shards' },
    policy: () => false,
    canaries: [],
    release: 'r1',
    outside: () => {
      throw new Error('a forged event has begun a run');
    },
    execReach: reachOf('127.0.0.1'),
  });
  const api = apiFunction({ ...ports, anonymous: false });
  return {
    published,
    bus,
    errors: () => lines.filter((line) => /TypeError|RangeError|ReferenceError/.test(line)),
    functions: { api, prober, 'status-sync': statusSyncFunction(ports) },
    async status() {
      const { statusCode, body } = await api(httpEvent('GET', path, { authorizer }), context(1_000));
      return { statusCode, body };
    },
    register: () => api(httpEvent('PUT', path, { authorizer, body: manifest }), context(9_000)),
  };
}

const hostile: readonly unknown[] = [
  ...[undefined, null, '', 'text', 0, -1, Number.NaN, true, [], [[]], {}, { length: -1 }],
  JSON.parse('{"__proto__": {"target": 1}, "constructor": {"prototype": 1}, "toString": 1}'),
  'x'.repeat(100_000),
  '\u0000\ud800',
  '{"detail":{"target":null}}',
];

/** `whole` with each of its fields, at any depth, replaced by each hostile value. */
function variants(whole: unknown): readonly unknown[] {
  if (typeof whole !== 'object' || whole === null) return hostile;
  const within = Object.entries(whole).flatMap(([name, value]) =>
    variants(value).map((other) => (Array.isArray(whole) ? [other] : { ...whole, [name]: other })),
  );
  return [...hostile, ...within];
}

const record = (body: string) => ({
  messageId: 'm1',
  receiptHandle: 'r',
  body,
  attributes: { ApproximateReceiveCount: '1', SentTimestamp: '1767225600000' },
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:queue',
});
const envelope = {
  version: '0',
  id: 'e1',
  source: 'probelet',
  'detail-type': 'Probe Result Changed',
  time: '2026-01-01T00:00:00Z',
  detail: { target: { ...target, uid: 'u' }, container: 'main', probeType: 'readiness', result: 'failure' },
};
const shardMessage = { v: 1, shard: 's1', version: 1, slot: 1, generation: 1 };
const scheduled = { ...envelope, source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} };

const forged: readonly unknown[] = [
  ...variants(httpEvent('PUT', path, { authorizer, body: manifest })),
  ...variants({ Records: [record(JSON.stringify(envelope))] }),
  ...variants(envelope).map((each) => ({ Records: [record(JSON.stringify(each) ?? '')] })),
  ...variants(shardMessage).map((each) => ({ Records: [record(JSON.stringify(each) ?? '')] })),
  ...variants(scheduled),
  { Records: Array.from({ length: 1_000 }, () => record('{')) },
];

const fails = (answer: object): boolean => 'statusCode' in answer && Number(answer.statusCode) >= 500;

describe('forged events', () => {
  for (const name of ['api', 'prober', 'status-sync'] as const)
    test(`make ${name} neither throw nor fail`, async () => {
      const { functions, errors, bus } = world();
      for (const event of forged) {
        const shown = JSON.stringify(event)?.slice(0, 300);
        const answer = await functions[name](event, context(30_000)).catch((cause) =>
          assert.fail(`${shown}: ${cause}`),
        );
        assert.deepEqual(errors(), [], shown);
        assert.ok(!fails(answer), shown);
      }
      await bus.settled();
    });

  test('name targets that do not exist, or cannot: nothing is published, nothing written', async () => {
    const { functions, published, bus, register, status } = world();
    await register();
    await bus.settled();
    const before = await status();
    published.length = 0;
    const odd = ['..', '../default', 'a/b', 'a#b', '__proto__', 'constructor', 'x'.repeat(253), '\u0000', '😀'];
    const names = ['absent', ...odd];
    const events = names.flatMap((name) => [
      { ...envelope, detail: { target: { namespace: 'default', name } } },
      { ...envelope, detail: { target: { namespace: name, name: 'known' } } },
    ]);
    const Records = events.map((event, index) => ({ ...record(JSON.stringify(event)), messageId: `m${index}` }));
    assert.deepEqual(await functions['status-sync']({ Records }, context(30_000)), { batchItemFailures: [] });
    await bus.settled();
    assert.deepEqual(published, []);
    assert.deepEqual(await status(), before);
  });

  test('that claim a result, a condition or a status of a known target change nothing of it', async () => {
    const { functions, bus, register, status } = world();
    await register();
    await bus.settled();
    // Once by the truth, so that whatever a look writes is written.
    const truth = { ...envelope, detail: { target } };
    await functions['status-sync']({ Records: [record(JSON.stringify(truth))] }, context(30_000));
    await bus.settled();
    const before = await status();
    const lies: readonly object[] = [
      { result: 'success', ready: true },
      { result: 'failure', restartCount: 99 },
      { status: { phase: 'Failed', conditions: [{ type: 'Ready', status: 'True' }] } },
      { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' },
      { spec: { host: '169.254.169.254' }, uid: 'another' },
      { state: { readiness: { result: 'success' } }, generation: 99, rev: 99 },
    ];
    for (const lie of lies) {
      const event = { ...envelope, ...lie, detail: { ...lie, target: { ...target, ...lie } } };
      const answer = await functions['status-sync']({ Records: [record(JSON.stringify(event))] }, context(30_000));
      assert.deepEqual(answer, { batchItemFailures: [] });
      await bus.settled();
      assert.deepEqual(await status(), before, JSON.stringify(lie));
    }
  });
});
