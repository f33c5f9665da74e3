/** Each function's role allows what its code sends, and nothing that it does not send. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { type FunctionName, functionNames } from '../../functions/bundling.ts';
import { awsCall, awsJson } from '../../shared/aws/aws-call.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { layoutKey, probeKey, runKey, targetAddress } from '../../shared/store/records/keys.ts';
import type { Fault, ProxiedCall } from '../support/fault-proxy.ts';
import { pythonPrograms } from '../support/python-programs.ts';
import { type Deployment, deployed, secretName } from './deployment.ts';
import type { FunctionThreads } from './function-threads.ts';
import { httpEvent } from './http-events.ts';
import { guarded, guardedFunctions, isOf, type Rights, synthesizedRights } from './rights-world.ts';

pythonPrograms();

/** What Lambda and the services around it do in the name of a role; the code does not. */
const bySid: { readonly [sid: string]: readonly string[] } = {
  /** Its own log group. */
  WriteLogs: ['logs:CreateLogStream', 'logs:PutLogEvents'],
  /** The mapping of a queue. Source: "Using Lambda with Amazon SQS", execution role permissions. */
  Shards: ['sqs:GetQueueAttributes', 'sqs:ReceiveMessage'],
  Hints: ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'],
  /** The destination of asynchronous invocations that failed. */
  DeadLetters: ['sqs:SendMessage'],
};

/** Of EC2, and one that only Systems Manager knows. */
const instances = ['i-0123456789abcdef0', 'mi-0123456789abcdef0'];
const longMs = 7_500;
const shortMs = 6_000;
const minuteSeconds = 60;
const mappedLoopback = '::ffff:127.0.0.1';
const triesMax = 6;

const pathOf = (name: string): string => `/v1/namespaces/default/targets/${name}`;

describe('a function that may do what its role allows', { concurrency: false }, () => {
  let deployment: Deployment;
  let proxy: Awaited<ReturnType<typeof guarded>>;
  let functions: FunctionThreads;
  let rights: Rights;
  let healthy = true;
  const target = createServer((_, response) => void response.writeHead(healthy ? 200 : 500).end());

  before(async () => {
    deployment = await deployed();
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    const endpointOf = () => deployment.ministack.endpoint;
    const call = awsCall({ client: deployment.sqs, clock: systemClock, endpointOf });
    const input = { Name: 'probelet/password', SecretString: 'Bearer word' };
    const create = { service: 'secretsmanager', target: 'secretsmanager.CreateSecret', input } as const;
    await awsJson(call, create, systemClock.monotonicMs() + 10_000);
    rights = synthesizedRights(JSON.parse(process.env.PROBELET_EXEC_FUNCTIONS ?? '{}').default);
    proxy = await guarded(deployment.ministack, () => rights);
    proxy.inflict(onInstances);
    functions = guardedFunctions(deployment, proxy.endpoint);
  });
  after(async () => {
    await functions?.stop();
    await proxy?.close();
    target.close();
    await deployment?.stop();
  });

  const call = async (...request: Parameters<typeof httpEvent>) => {
    const answer = (await functions.invoke('api', httpEvent(...request))) as { statusCode: number; body: string };
    return { status: answer.statusCode, body: answer.body };
  };
  const expect = async (expected: number, ...request: Parameters<typeof httpEvent>) => {
    const { status, body } = await call(...request);
    assert.equal(status, expected, `${request[0]} ${request[1]}: ${body}`);
  };
  const register = (name: string, spec: object) =>
    expect(201, 'PUT', pathOf(name), { body: { spec: { host: '127.0.0.1', ...spec } } });
  const probe = async (forMs: number) => functions.invoke('prober', await deployment.shardEvent(), forMs);
  const syncAll = async () => {
    for (let event = await deployment.syncEvent(); event.Records.length > 0; event = await deployment.syncEvent())
      await functions.invoke('status-sync', event);
  };
  const sendToShards = (group: string, MessageBody: string) => {
    const named = { MessageGroupId: group, MessageDeduplicationId: group };
    const { sqs, shardQueueUrl: QueueUrl } = deployment;
    return sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...named }));
  };
  const gone = async (name: string) => (await call('GET', pathOf(name))).status === 404;

  test('registers targets, takes reports, triggers probes and lists events', async () => {
    const { port } = target.address() as AddressInfo;
    const secrets = { Authorization: `ssm:${secretName}`, 'X-Api-Key': 'secretsmanager:probelet/password' };
    const httpHeaders = Object.entries(secrets).map(([name, value]) => ({ name, value }));
    const often = { periodSeconds: 1, failureThreshold: 1 };
    const httpGet = { path: '/', port };
    await register('static', {
      livenessProbe: { httpGet, ...often },
      readinessProbe: { httpGet: { ...httpGet, httpHeaders }, ...often },
    });
    await register('reported', { lifecycle: 'reported', readinessProbe: { httpGet, ...often } });
    // Whose failures a second place looks at: only what is on loopback as written needs none.
    for (const name of ['seen-here', 'seen-there'])
      await register(name, { host: mappedLoopback, readinessProbe: { httpGet, ...often, failureThreshold: 20 } });
    await register('by-function', { readinessProbe: { exec: { command: ['echo'] }, ...often, timeoutSeconds: 5 } });
    for (const instance of instances)
      await register(`on-${instance}`, {
        readinessProbe: { exec: { command: [`ssm:${instance}`, 'true'] }, ...often, timeoutSeconds: 1 },
      });
    for (const name of ['never-reported', 'undesired']) await register(name, { containers: [{ name: 'main' }] });
    const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
    const containerStatuses = [{ name: 'main', containerID: 'a://1', state }];
    await expect(200, 'PUT', `${pathOf('reported')}/status`, { body: { status: { containerStatuses } } });
    await expect(202, 'POST', `${pathOf('static')}/probe`, { body: {} });
    const targets = '/v1/namespaces/default/targets';
    const spec = { host: '127.0.0.1', containers: [{ name: 'main' }] };
    const generated = { metadata: { generateName: 'new-' }, spec };
    await expect(201, 'POST', targets, { body: generated, query: 'dryRun=true' });
    const list = { apiVersion: 'v1', kind: 'List', items: [{ metadata: { name: 'undesired' }, spec }] };
    await expect(200, 'PUT', targets, { body: list });
    for (const path of ['/v1/targets', targets, pathOf('static'), `${pathOf('static')}/events`])
      await expect(200, 'GET', path);
  });

  test('lays out the shards, sends their messages, and publishes that they have no holder', async () => {
    await functions.invoke('schedule', {});
    const item = await deployment.store.get(layoutKey);
    assert.ok(Array.isArray(item?.shards));
    const shards = item.shards.map((shard) => ({ ...shard, sinceMs: 0 }));
    await deployment.store.write([{ kind: 'update', key: layoutKey, set: { shards } }], { token: 'long unheld' });
    await functions.invoke('schedule', {});
  });

  test('probes, commits, and keeps what is below its threshold', async () => {
    await probe(longMs);
    healthy = false;
    // On a machine that is busy one invocation may be over before a probe is.
    for (let tries = 0; tries < triesMax && !(await hasFailed()); tries += 1) await probe(shortMs);
    assert.ok(await hasFailed());
  });
  const hasFailed = async () => {
    const item = await deployment.store.get(probeKey(targetAddress('default', 'static'), 'main#liveness'));
    return item?.result === 'failure';
  };

  test('deletes a message that means nothing', async () => {
    // Other messages are with another holder meanwhile.
    while ((await deployment.shardEvent(minuteSeconds)).Records.length > 0);
    await sendToShards('odd', '{}');
    assert.deepEqual(await probe(shortMs), { batchItemFailures: [] });
  });

  test('computes statuses, restarts containers and purges a target without a report', async () => {
    await syncAll();
    await expect(202, 'DELETE', pathOf('never-reported'), { query: 'gracePeriodSeconds=0' });
    await syncAll();
    assert.ok(await gone('never-reported'), 'the target was deleted, and is still there');
  });

  test('reads back what it wrote when every answer is lost', async () => {
    for (const name of ['api', 'status-sync', 'schedule'] as const) await loseAnswers(name);
  });

  /** Of all writes of this function, so that each is sent until it is read back. */
  async function loseAnswers(name: FunctionName): Promise<void> {
    const isWrite = ({ operation }: ProxiedCall) => /^(Put|Update|TransactWrite)/.test(operation);
    proxy.inflict((each): Fault => (isOf(each, name) && isWrite(each) ? { kind: 'dropResponse' } : { kind: 'pass' }));
    try {
      if (name === 'api') await call('DELETE', pathOf('undesired'), { query: 'gracePeriodSeconds=0' });
      else if (name === 'status-sync') await syncAll();
      else await functions.invoke('schedule', {});
    } finally {
      proxy.inflict(onInstances);
    }
  }

  test('is refused nothing', () => assert.deepEqual(proxy.refused, []));

  for (const name of functionNames)
    test(`uses every right of its role: ${name}`, () => {
      const sent = [...proxy.used(name)].toSorted();
      assert.deepEqual(sent, allowed(rights[name], sent));
    });

  describe('that lacks a right', { concurrency: false }, () => {
    /**
     * A function that has just started, with a role from which this action is missing: what it was refused, logged and
     * counted.
     */
    async function lacking(name: FunctionName, action: string, act: (all: FunctionThreads) => Promise<unknown>) {
      const whole = rights;
      rights = { ...whole, [name]: without(whole[name], action) };
      proxy.refused.length = 0;
      const own = guardedFunctions(deployment, proxy.endpoint);
      try {
        const answer = await act(own);
        const lines = own.logged(name);
        return { answer, refused: proxy.refused.length, ...reportedIn(lines) };
      } finally {
        rights = whole;
        await own.stop();
      }
    }

    const hintsOf = (names: readonly string[]) => ({
      Records: names.map((name) => ({
        messageId: name,
        body: JSON.stringify({ detail: { target: { namespace: 'default', name } } }),
      })),
    });
    const deletedNames = Array.from({ length: 6 }, (_, index) => `deleted-${index}`);

    test('leaves what it may not purge alone, and serves the other targets', async () => {
      for (const name of deletedNames) {
        await register(name, { containers: [{ name: 'main' }] });
        await call('DELETE', pathOf(name), { query: 'gracePeriodSeconds=0' });
      }
      await deployment.syncEvent();
      await register('other', { containers: [{ name: 'main' }] });
      const act = async (own: FunctionThreads) => {
        for (let again = 0; again < 2; again += 1) await own.invoke('status-sync', hintsOf(deletedNames));
        return own.invoke('status-sync', hintsOf(['other', ...deletedNames]));
      };
      const lacked = await lacking('status-sync', 'dynamodb:ConditionCheckItem', act);
      const { answer, refused, errors, counted } = lacked;
      assert.deepEqual(answer, { batchItemFailures: [] });
      // Its four lanes may ask at the same time.
      assert.ok(refused >= 1 && refused <= 4, `asked ${refused} times`);
      assert.deepEqual(errors, ['access denied']);
      assert.equal(counted, refused);
      assert.equal(JSON.parse((await call('GET', pathOf('other'))).body).status.phase, 'Running');
      assert.equal(await gone('deleted-0'), false);
      await functions.invoke('status-sync', hintsOf(deletedNames));
      for (const name of deletedNames) assert.ok(await gone(name), name);
    });

    test('keeps the events that it may not publish', async () => {
      const act = (own: FunctionThreads) => own.invoke('status-sync', hintsOf(['other', 'static', 'reported']));
      await call('PATCH', pathOf('reported'), {
        body: { spec: { containers: [{ name: 'another' }] } },
        headers: { 'content-type': 'application/merge-patch+json' },
      });
      const { answer, refused, errors } = await lacking('status-sync', 'events:PutEvents', act);
      assert.deepEqual(answer, { batchItemFailures: [] });
      assert.ok(refused >= 1 && refused <= 4, `asked ${refused} times`);
      assert.deepEqual(errors, ['access denied']);
    });

    test('lets go of a shard whose lease it may not extend', async () => {
      const beganMs = performance.now();
      await sendSlot('leaseless');
      const act = async (own: FunctionThreads) => {
        const event = await deployment.shardEvent(minuteSeconds);
        assert.equal(event.Records.length, 1);
        return own.invoke('prober', event, longMs);
      };
      const { answer, refused, errors, counted } = await lacking('prober', 'sqs:ChangeMessageVisibility', act);
      assert.equal((answer as { batchItemFailures: unknown[] }).batchItemFailures.length, 1);
      assert.deepEqual([refused, errors, counted], [1, ['access denied'], 1]);
      assert.ok(performance.now() - beganMs < longMs, 'it asked until its time was up');
    });

    test('says what it could not send, and throws nothing', async () => {
      const send = (own: FunctionThreads) => own.invoke('schedule', {});
      // As if no run had ever held the shard: its message is sent again.
      await deployment.store.write([{ kind: 'delete', key: runKey('00') }], { token: 'never held' });
      const { refused, errors, counted } = await lacking('schedule', 'sqs:SendMessage', send);
      // Messages are sent side by side.
      assert.ok(refused >= 1 && refused <= 4, `asked ${refused} times`);
      const others = errors.filter((error) => error !== 'shards without a holder');
      assert.deepEqual([others, counted], [['access denied'], refused]);
    });

    test('asks its client not to come back at once', async () => {
      const { answer, errors } = await lacking('api', 'dynamodb:Query', (own) =>
        own.invoke('api', httpEvent('GET', pathOf('static'))),
      );
      const { statusCode, headers } = answer as { statusCode: number; headers: Record<string, string> };
      assert.deepEqual([statusCode, headers['retry-after'], errors], [503, '30', ['access denied']]);
    });

    async function sendSlot(shard: string): Promise<void> {
      const nowMs = Date.now();
      const held = { kind: 'slot', shard, generation: 1, buckets: { from: 0, to: 1 } };
      await sendToShards(shard, JSON.stringify({ ...held, slot: 1, slotEndMs: nowMs + 60_000, sentAtMs: nowMs }));
    }
  });
});

const without = (statements: Rights[FunctionName], action: string): Rights[FunctionName] =>
  statements.map((statement) => ({
    ...statement,
    Action: [statement.Action].flat().filter((each) => each !== action),
  }));

/** What a log says of errors, and what it counts as denied. */
function reportedIn(lines: readonly Line[]) {
  const errors = lines
    .filter(({ level }) => level === 'ERROR' || level === 'WARN')
    .map(({ message }) => String(message));
  const counted = lines.reduce((sum, { AccessDenied: denied = 0 }) => sum + Number(denied), 0);
  return { errors, counted };
}

type Line = Readonly<Record<string, unknown>>;

/**
 * Every action on every resource that the code may ask for. A pattern stands for each resource that matches it, at
 * least for itself.
 */
function allowed(statements: Rights[FunctionName], sent: readonly string[]): readonly string[] {
  const asks = statements.flatMap(({ Sid = '', Action, Resource }) =>
    [Action].flat().flatMap((action) =>
      bySid[Sid]?.includes(action)
        ? []
        : [Resource].flat().flatMap((resource) => {
            const pattern = new RegExp(`^${`${action} on ${resource}`.replaceAll('*', '.*').replaceAll('?', '.')}$`);
            const matching = sent.filter((ask) => pattern.test(ask));
            return matching.length > 0 ? matching : [`${action} on ${resource}`];
          }),
    ),
  );
  return [...new Set(asks)].toSorted();
}

/** Systems Manager, which the emulator has no instances for: a command that never ends, so that it is cancelled. */
function onInstances({ operation }: ProxiedCall): Fault {
  const answers: { readonly [operation: string]: object } = {
    SendCommand: { Command: { CommandId: 'command-1' } },
    GetCommandInvocation: { Status: 'InProgress' },
    CancelCommand: {},
  };
  const output = answers[operation];
  return output ? { kind: 'answer', answer: { status: 200, body: JSON.stringify(output) } } : { kind: 'pass' };
}
