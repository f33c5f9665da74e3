import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { DeleteMessageCommand } from '@aws-sdk/client-sqs';
import { type AwsCall, awsCall, awsJson } from '../../shared/aws/aws-call.ts';
import { endingClock, systemClock } from '../../shared/lib/clock.ts';
import { sqsClient } from '../../shared/queue/sqs-call.ts';
import { awsServer, type Script, serverKeys } from '../support/aws-json-server.ts';

async function world(context: TestContext, script: Script) {
  const server = await awsServer(script);
  const client = sqsClient({ region: 'eu-central-1', credentials: serverKeys, endpoint: server.endpoint });
  context.after(async () => {
    client.destroy();
    await server.close();
  });
  const clock = endingClock(systemClock);
  const call: AwsCall = awsCall({ client, clock, endpointOf: () => server.endpoint });
  return { call, client, clock, server, soon: () => clock.monotonicMs() + 5_000 };
}

const arnPath = `/2015-03-31/functions/${encodeURIComponent('arn:aws:lambda:us-east-1:000000000000:function:x:live')}/invocations`;
const parameter = { service: 'ssm', target: 'AmazonSSM.GetParameter', input: { Name: '/probelet/ü' } } as const;

describe('a call of a service without a client', () => {
  test('is signed as the specification says, for its own service', async (context) => {
    const { call, server, soon } = await world(context, () => ({ body: { a: 1 } }));
    await awsJson(call, parameter, soon());
    await call(
      { service: 'lambda', path: arnPath, headers: { 'content-type': 'application/json' }, body: '{}' },
      soon(),
    );
    assert.deepEqual(
      server.calls.map(({ isSigned, path }) => [isSigned, path]),
      [
        [true, '/'],
        [true, arnPath],
      ],
    );
    const scopes = server.calls.map(({ headers }) => /\d{8}\/([^,]+)\/aws4/.exec(headers.authorization ?? '')?.[1]);
    assert.deepEqual(scopes, ['eu-central-1/ssm', 'eu-central-1/lambda']);
  });

  test('leaves the signatures of the client that it borrows from alone', async (context) => {
    const { call, client, server, soon } = await world(context, () => ({ body: {} }));
    const own = () =>
      client.send(new DeleteMessageCommand({ QueueUrl: `${server.endpoint}/queue`, ReceiptHandle: 'x' }));
    await awsJson(call, parameter, soon());
    await own();
    await awsJson(call, parameter, soon());
    const services = server.calls.map(({ headers }) => /(\w+)\/aws4/.exec(headers.authorization ?? '')?.[1]);
    assert.deepEqual(services, ['ssm', 'sqs', 'ssm']);
    assert.ok(server.calls.every(({ isSigned }) => isSigned));
  });

  test('gives the output, or the name of the error', async (context) => {
    const answers = [
      { body: { Parameter: { Value: 'v' } } },
      { status: 400, body: { __type: 'com.amazonaws.ssm#ParameterNotFound', message: 'no' } },
      { status: 503, headers: { 'x-amzn-errortype': 'ServiceUnavailable:http://x' }, body: 'busy' },
      { status: 200, body: 'not JSON' },
    ];
    const { call, soon } = await world(context, () => answers.shift() ?? 'silence');
    const given = [1, 2, 3, 4].map(() => awsJson(call, parameter, soon()));
    assert.deepEqual(await Promise.all(given), [
      { kind: 'output', output: { Parameter: { Value: 'v' } } },
      { kind: 'error', code: 'ParameterNotFound', message: 'no', status: 400 },
      { kind: 'error', code: 'ServiceUnavailable', message: '', status: 503 },
      { kind: 'error', code: 'status 200', message: '', status: 200 },
    ]);
  });

  test('that is not answered ends at its deadline, or with its clock', async (context) => {
    const { call, clock } = await world(context, () => 'silence');
    assert.deepEqual(await awsJson(call, parameter, clock.monotonicMs() + 100), { kind: 'tooLate' });
    const asked = awsJson(call, parameter, clock.monotonicMs() + 600_000);
    setTimeout(clock.end, 50);
    assert.deepEqual(await asked, { kind: 'tooLate' });
  });

  test('is not held up by hundreds of others that hang', async (context) => {
    const { call, clock, server, soon } = await world(context, ({ body }) =>
      body.includes('hanging') ? 'silence' : { body: {} },
    );
    const hanging = Array.from({ length: 300 }, () => awsJson(call, { ...parameter, input: 'hanging' }, soon()));
    while (server.calls.length < hanging.length) await new Promise(setImmediate);
    assert.equal((await awsJson(call, parameter, soon())).kind, 'output');
    clock.end();
    await Promise.all(hanging);
  });

  test('that finds nobody says so', async (context) => {
    const { call, server, soon } = await world(context, () => 'silence');
    await server.close();
    assert.equal((await awsJson(call, parameter, soon())).kind, 'unreachable');
  });
});
