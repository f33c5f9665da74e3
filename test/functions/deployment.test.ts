import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { sqsQueue } from '../../shared/queue/sqs.ts';
import { decodeLayout } from '../../shared/store/records/items.ts';
import { layoutKey, runKey } from '../../shared/store/records/keys.ts';
import { noSecrets } from '../support/no-secrets.ts';
import { pythonPrograms } from '../support/python-programs.ts';
import { testsIn } from '../support/tests-in.ts';
import { type Deployment, deployed, secretName } from './deployment.ts';
import { httpEvent } from './http-events.ts';
import { context } from './invocation.ts';

pythonPrograms();

const handlerOf = {
  api: () => import('../../functions/api/handler.ts'),
  prober: () => import('../../functions/prober/handler.ts'),
  schedule: () => import('../../functions/schedule/handler.ts'),
  statusSync: () => import('../../functions/status-sync/handler.ts'),
};

const execPath = '/v1/namespaces/default/targets/commanded';
const path = '/v1/namespaces/default/targets/checkout';
/** Long enough for a few probes at a period of a second; of so little time a third is left for the end. */
const shortMs = 6_000;

const withoutTable = { table: 'gone', bus: 'probes', stage: 'emulator', detailedMetrics: false };
const hint = JSON.stringify({ detail: { target: { namespace: 'default', name: 'checkout' } } });

type Line = Readonly<Record<string, unknown>>;

const errorsIn = (lines: readonly Line[]) => lines.filter(({ level }) => level === 'ERROR');
const metricsIn = (lines: readonly Line[]) => lines.filter(({ Function: name }) => name !== undefined);
const failed = (...ids: readonly unknown[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});

const inProber = testsIn(() => handlerOf.prober());

describe('the functions of a deployment', { concurrency: false }, () => {
  let deployment: Deployment;
  let healthy = true;
  const authorizations = new Set<string | undefined>();
  const target = createServer(({ headers }, response) => {
    authorizations.add(headers.authorization);
    response.writeHead(healthy ? 200 : 500).end();
  });
  const lines: string[] = [];
  const write = process.stdout.write;

  before(async () => {
    deployment = await deployed();
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    process.stdout.write = ((line: string, ...rest: never[]) =>
      String(line).startsWith('{"') ? lines.push(line) > 0 : write.call(process.stdout, line, ...rest)) as typeof write;
  });
  after(async () => {
    process.stdout.write = write;
    target.close();
    await deployment?.stop();
  });

  const logged = () => lines.splice(0).map((line): Line => JSON.parse(line));
  const call = async (...request: Parameters<typeof httpEvent>) => {
    const { handler } = await handlerOf.api();
    return handler(httpEvent(...request), context(29_000));
  };
  const ready = async (of = path) => {
    const { conditions = [] } = JSON.parse((await call('GET', of)).body).status;
    return conditions.find(({ type }: { readonly type: string }) => type === 'Ready')?.status;
  };
  /** As long as its mapping would go on calling it. */
  const syncAll = async () => {
    const { handler } = await handlerOf.statusSync();
    for (let event = await deployment.syncEvent(); event.Records.length > 0; event = await deployment.syncEvent())
      assert.deepEqual(await handler(event, context(29_000)), failed());
  };

  /** The fields of the readiness probe that warnings name. A probe that cannot run is named without a field. */
  const warnedFields = ({ headers }: { readonly headers: { readonly warning?: string } }) =>
    headers.warning?.split(', 299 - ').map((text) => /readinessProbe\/?(\w*)/.exec(text)?.[1]);

  test('a target is registered through the API', async () => {
    const { port } = target.address() as AddressInfo;
    const httpHeaders = [{ name: 'Authorization', value: `ssm:${secretName}` }];
    const readinessProbe = { httpGet: { path: '/', port, httpHeaders }, periodSeconds: 1, failureThreshold: 1 };
    const answer = await call('PUT', path, { body: { spec: { host: '127.0.0.1', readinessProbe } } });
    assert.equal(answer.statusCode, 201, answer.body);
    assert.deepEqual(warnedFields(answer), ['failureThreshold']);
    assert.equal(await ready(), 'Unknown');
    const exec = { readinessProbe: { exec: { command: ['echo', 'fine'] }, periodSeconds: 1, timeoutSeconds: 5 } };
    const commanded = await call('PUT', execPath, { body: { spec: { host: 'none', ...exec } } });
    assert.equal(commanded.statusCode, 201);
    assert.deepEqual(warnedFields(commanded), ['timeoutSeconds', 'periodSeconds']);
    const [line] = logged().filter(({ message }) => message === 'request');
    assert.deepEqual([line?.service, line?.method, line?.status], ['api', 'PUT', 201]);
  });

  test('a probe that its prober refuses is warned of', async () => {
    const httpHeaders = [{ name: 'Authorization', value: 'ssm:/probelet/other' }];
    const spec = {
      host: '127.0.0.1',
      startupProbe: { tcpSocket: { host: '169.254.169.254', port: 80 } },
      readinessProbe: { httpGet: { path: '/', port: 80, httpHeaders } },
      livenessProbe: { exec: { command: ['ssm:i-0123456789abcdef0', 'true'] } },
    };
    const { statusCode, headers } = await call('PUT', path, { body: { spec }, query: 'dryRun=true' });
    logged();
    assert.equal(statusCode, 200);
    assert.deepEqual(headers.warning?.split(', 299 - '), [
      '299 - "/spec/containers/0/startupProbe cannot run: the dial policy denies 169.254.169.254; no setting of the deployment allows it, so name another host"',
      `"/spec/containers/0/readinessProbe cannot run: header Authorization: the secret ssm:/probelet/other cannot be resolved: it may not be sent to 127.0.0.1:80; the deployment's secrets: { 'ssm:/probelet/other': ['127.0.0.1:80'] } would allow it"`,
      `"/spec/containers/0/livenessProbe cannot run: exec probes on instances are off in this deployment; the deployment's execRunner names what runs commands"`,
    ]);
  });

  test('the schedule sends the shard its message, however often it is called', async () => {
    const { handler } = await handlerOf.schedule();
    await handler({ time: 'whatever' }, context(29_000));
    await handler(undefined, context(29_000));
    const item = await deployment.store.get(layoutKey);
    const layout = item && decodeLayout(item);
    assert.ok(layout?.kind === 'ok');
    assert.partialDeepStrictEqual(layout.record, { desiredRelease: 'r1', shards: [{ mode: 'resident' }] });
    assert.equal(layout.record.shards.length, 1);
    const [metrics] = metricsIn(logged());
    const expected = { Function: 'schedule', Stage: 'emulator', Shards: 1, MessagesNotSent: 0 };
    assert.partialDeepStrictEqual(metrics, expected);
  });

  inProber('the prober probes, lets go before its time is up, and leaves nothing pending', async ({ handler }) => {
    const event = await deployment.shardEvent();
    assert.equal(event.Records.length, 1);
    const timers = pendingTimers();
    const beganMs = performance.now();
    const answer = await handler(event, context(shortMs));
    assert.ok(performance.now() - beganMs < shortMs, 'past its time');
    assert.equal(pendingTimers(), timers);
    // Not done: the slot continues. So the message is reported, and visible at once for the next process.
    assert.deepEqual(answer, failed(event.Records[0]?.messageId));
    const all = logged();
    assert.deepEqual(errorsIn(all), []);
    const metrics = metricsIn(all).at(-1);
    assert.ok(Number(metrics?.ProbesSuccessful) >= 2, JSON.stringify(metrics));
    assert.deepEqual([metrics?.TargetsHeld, metrics?.ProbesLate, metrics?.RunsInDoubt], [2, 0, 0]);
    assert.ok(Number(metrics?.ReadUnits) > 0 && Number(metrics?.WriteUnits) > 0);
  });

  test('its result becomes the status of the target', async () => {
    await syncAll();
    assert.equal(await ready(), 'True');
    assert.deepEqual([...authorizations], ['Bearer token']);
  });

  test('a command that the deployment’s own function runs counts as well', async () =>
    assert.equal(await ready(execPath), 'True'));

  inProber('the next invocation goes on with the same message, and tells of a failure', async ({ handler }) => {
    healthy = false;
    const event = await deployment.shardEvent();
    assert.equal(event.Records[0]?.attributes.ApproximateReceiveCount, '2');
    assert.equal((await handler(event, context(shortMs))).batchItemFailures.length, 1);
    await syncAll();
    assert.equal(await ready(), 'False');
  });

  inProber('a run whose slot ends deletes its message, and the next one is warm', async ({ handler }) => {
    // What is left of before belongs to another process from now on.
    const before = await deployment.shardEvent(600);
    assert.equal(before.Records.length, 1);
    logged();
    const claims: unknown[] = [];
    for (const slot of [1, 2]) {
      await sendSlot(slot, 3_000);
      const event = await deployment.shardEvent();
      assert.equal(event.Records.length, 1);
      const timers = pendingTimers();
      assert.deepEqual(await handler(event, context(60_000)), failed());
      assert.equal(pendingTimers(), timers);
      const metrics = metricsIn(logged());
      claims.push(metrics.at(-1)?.ReadUnits);
      const run = await deployment.store.get(runKey('warm'));
      assert.equal(run?.doneSlot, slot);
    }
    assert.ok(Number(claims[1]) < Number(claims[0]), `read units ${claims.join(', ')}`);
  });

  /** A shard of its own over the same buckets, with a slot that ends soon. */
  async function sendSlot(
    slot: number,
    forMs: number,
    { shard = 'warm', mode }: { readonly shard?: string; readonly mode?: 'tick' } = {},
  ): Promise<void> {
    assert.ok(await deployment.store.get(layoutKey));
    const generation = 7;
    const set = { [`generation:${shard}`]: generation };
    await deployment.store.write([{ kind: 'update', key: layoutKey, set }], { token: systemRandom.uuid() });
    const { sqs: client, shardQueueUrl: queueUrl } = deployment;
    const queue = sqsQueue({ client, queueUrl, clock: systemClock, random: systemRandom });
    const sentAtMs = Date.now();
    const held = { shard, generation, ...(mode && { mode }), buckets: { from: 0, to: 256 } };
    await queue.send(
      { kind: 'slot', ...held, slot, slotEndMs: sentAtMs + forMs, sentAtMs },
      { group: shard, deduplicationId: `${shard}-${slot}` },
    );
  }

  inProber('a shard in tick mode is done within its minute, once, and told of', async ({ handler }) => {
    logged();
    const units: number[] = [];
    for (const slot of [1, 2]) {
      await sendSlot(slot, 10_000, { shard: 'tick', mode: 'tick' });
      const timers = pendingTimers();
      const beganMs = performance.now();
      assert.deepEqual(await handler(await deployment.shardEvent(), context(60_000)), failed());
      assert.ok(performance.now() - beganMs < 10_000, 'it went on until its slot ended');
      assert.equal(pendingTimers(), timers);
      const metrics = metricsIn(logged());
      assert.equal(metrics.at(-1)?.TargetsHeld, 2);
      units.push(Number(metrics.at(-1)?.WriteUnits));
      const run = await deployment.store.get(runKey('tick'));
      assert.deepEqual([run?.doneSlot, run?.tick], [slot, true]);
    }
    // A token, and RUN at both ends: what the estimate of costs reckons with.
    assert.equal(units[1], 3);
  });

  inProber('an invocation without anything says that the release starts', async ({ handler }) => {
    logged();
    assert.deepEqual(await handler({}, context(60_000)), failed());
    const said = logged().map(({ level, message, release }) => [level, message, release]);
    assert.deepEqual(said, [['INFO', 'release starts', 'r1']]);
  });

  inProber('a malformed message is dropped and logged once', async ({ handler }) => {
    await sendSlot(3, -1_000);
    const event = await deployment.shardEvent();
    const [record] = event.Records;
    assert.ok(record);
    const malformed = { Records: [{ ...record, body: '{"kind":"slot"}' }] };
    assert.deepEqual(await handler(malformed, context(60_000)), failed());
    assert.equal(errorsIn(logged()).length, 1);
    assert.deepEqual((await deployment.shardEvent()).Records, []);
  });

  test('a prober without a table leaves its message to another process, and does not throw', async () => {
    const [{ proberFunction }, { functionPorts }] = await Promise.all([
      import('../../functions/prober/prober.ts'),
      import('../../functions/lambda/ports.ts'),
    ]);
    const handler = proberFunction({
      ...functionPorts('prober', withoutTable),
      queue: { client: deployment.sqs, queueUrl: deployment.shardQueueUrl },
      policy: () => false,
      canaries: [],
      release: 'r1',
      outside: () => ({ run: async () => ({ kind: 'denied', message: 'none' }), secrets: noSecrets }),
      execReach: 'network',
    });
    await sendSlot(4, 60_000);
    const event = await deployment.shardEvent();
    const messageId = event.Records[0]?.messageId;
    assert.deepEqual(await handler(event, context(60_000)), failed(messageId));
    assert.equal(metricsIn(logged())[0]?.RunsInDoubt, 1);
  });

  inProber('an event that is none is logged once, and nothing is thrown', async ({ handler }) => {
    for (const event of [undefined, null, 'text', [], { other: 1 }, { Records: [{ Sns: {} }] }]) {
      assert.deepEqual(await handler(event, context(60_000)), failed());
      const all = logged();
      assert.equal(errorsIn(all).length, 1);
      assert.equal(metricsIn(all)[0]?.EventsMalformed, 1);
    }
  });

  test('status-sync reports malformed records alone', async () => {
    const { handler } = await handlerOf.statusSync();
    const target = { namespace: 'default', name: 'checkout', uid: 'none' };
    const detail = { target, schemaVersion: 1, id: 'x', reason: 'test' };
    const good = record('good', JSON.stringify({ source: 'probelet', 'detail-type': 'Target Sync Requested', detail }));
    const batch = [good, record('not-json', '{'), record('no-target', '{"detail":{}}'), record('again', '{', 3)];
    assert.deepEqual(await handler({ Records: batch }, context(29_000)), failed('not-json', 'no-target', 'again'));
    const named = errorsIn(logged()).map(({ messageId }) => messageId);
    assert.deepEqual(named, ['not-json', 'no-target']);
    assert.deepEqual(await handler('nothing', context(29_000)), failed());
    assert.equal(errorsIn(logged()).length, 1);
  });

  test('status-sync without a table reports what it could not do, and only that', async () => {
    const { statusSyncFunction } = await import('../../functions/status-sync/status-sync.ts');
    const { functionPorts } = await import('../../functions/lambda/ports.ts');
    const handler = statusSyncFunction(functionPorts('status-sync', withoutTable));
    const answer = await handler({ Records: [record('a', hint), record('b', hint)] }, context(29_000));
    assert.deepEqual(answer, failed('a', 'b'));
  });

  test('status-sync begins nothing when its time is nearly up', async () => {
    const { handler } = await handlerOf.statusSync();
    const late = { awsRequestId: 'late', getRemainingTimeInMillis: () => 0 };
    assert.equal((await handler({ Records: [record('a', hint)] }, late)).batchItemFailures.length, 1);
  });

  test('a schedule that cannot work throws, for the alarm', async () => {
    const { scheduleFunction } = await import('../../functions/schedule/schedule.ts');
    const { functionPorts } = await import('../../functions/lambda/ports.ts');
    const handler = scheduleFunction({
      ...functionPorts('schedule', withoutTable),
      queue: { send: async () => {} },
      release: 'r1',
      mode: 'auto',
      capacityMb: 256,
    });
    logged();
    await assert.rejects(handler({}, context(29_000)), { name: 'StoreUnavailable' });
    assert.equal(errorsIn(logged()).length, 1);
  });
});

const record = (messageId: string, body: string, receiveCount = 1) => ({
  messageId,
  receiptHandle: 'handle',
  body,
  attributes: { ApproximateReceiveCount: String(receiveCount) },
});

/** Timers that would go on in the next invocation. */
const pendingTimers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
