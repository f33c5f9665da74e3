import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, type TestContext, test } from 'node:test';
import { awsCall } from '../../shared/aws/aws-call.ts';
import { ssmRunner } from '../../shared/exec/ssm.ts';
import { endingClock, systemClock } from '../../shared/lib/clock.ts';
import { sqsClient } from '../../shared/queue/sqs-call.ts';
import { type Answer, awsServer, type Call, serverKeys } from '../support/aws-json-server.ts';
import { execRequest } from '../support/exec-request.ts';

const instanceId = 'i-0123456789abcdef0';

/** Run Command as the API reference has it; `looks` are what GetCommandInvocation says, the last one for ever. */
async function world(
  context: TestContext,
  looks: readonly (Answer | 'silence')[],
  sent: Answer | 'silence' = { body: { Command: { CommandId: 'c1' } } },
) {
  let looked = 0;
  const server = await awsServer(({ target }: Call) => {
    if (target === 'AmazonSSM.SendCommand') return sent;
    if (target === 'AmazonSSM.CancelCommand') return { body: {} };
    looked += 1;
    return looks[Math.min(looked, looks.length) - 1] ?? 'silence';
  });
  const client = sqsClient({ region: 'us-east-1', credentials: serverKeys });
  context.after(async () => {
    client.destroy();
    await server.close();
  });
  const clock = endingClock(systemClock);
  const run = ssmRunner({ call: awsCall({ client, clock, endpointOf: () => server.endpoint }), clock, instanceId });
  return {
    clock,
    calls: (name: string) => server.calls.filter((call) => call.target === `AmazonSSM.${name}`),
    run: (command: readonly string[], timeoutMs = 5_000) => run(execRequest(command, timeoutMs)),
  };
}

const look = (Status: string, more: object = {}): Answer => ({
  body: { Status, StatusDetails: Status, ResponseCode: -1, ...more },
});
const unknown: Answer = { status: 400, body: { __type: 'InvocationDoesNotExist' } };
const throttled: Answer = { status: 400, body: { __type: 'ThrottlingException', message: 'slow down' } };

describe('a command on an instance', () => {
  test('is sent once and looked at until it has ended', async (context) => {
    const output = { StandardOutputContent: 'fine\n', StandardErrorContent: 'warn' };
    const { run, calls } = await world(context, [
      unknown,
      throttled,
      look('InProgress'),
      look('Success', { ResponseCode: 0, ...output }),
    ]);
    assert.deepEqual(await run(['cat', '/tmp/healthy']), { kind: 'exited', exitCode: 0, output: 'fine\nwarn' });
    assert.equal(calls('SendCommand').length, 1);
    assert.deepEqual(JSON.parse(calls('SendCommand')[0]?.body ?? ''), {
      DocumentName: 'AWS-RunShellScript',
      InstanceIds: [instanceId],
      TimeoutSeconds: 30,
      Parameters: { commands: ["'cat' '/tmp/healthy'"], executionTimeout: ['5'] },
    });
    assert.equal(calls('CancelCommand').length, 0);
  });

  test('gets its arguments as they are, whatever a shell would make of them', async (context) => {
    const { run, calls } = await world(context, [look('Success', { ResponseCode: 0 })]);
    const command = ['printf', '%s|', "it's", '$(id)', 'a b', '', '"', '\\', '`x`', 'ü\n'];
    await run(command);
    const [line] = JSON.parse(calls('SendCommand')[0]?.body ?? '').Parameters.commands;
    assert.equal(
      execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' }),
      command
        .slice(2)
        .map((word) => `${word}|`)
        .join(''),
    );
  });

  test('has no reference that Systems Manager would resolve', async (context) => {
    const { run, calls } = await world(context, [look('Success', { ResponseCode: 0 })]);
    const words = ['{{ssm:/name}}', '{{ ssm-secure:n }}', '{{{ssm:n}}}', '{{{{x}}}}', "{'{ssm:n}}", '{{', '{}'];
    await run(['printf', '%s|', ...words]);
    const sent = calls('SendCommand')[0]?.body ?? '';
    assert.ok(!sent.includes('{{'), sent);
    const [line] = JSON.parse(sent).Parameters.commands;
    assert.equal(execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' }), `${words.join('|')}|`);
  });

  test('that fails has its exit code', async (context) => {
    const { run } = await world(context, [look('Failed', { ResponseCode: 7, StandardErrorContent: 'no' })]);
    assert.deepEqual(await run(['false']), { kind: 'exited', exitCode: 7, output: 'no' });
  });

  test('that takes too long is cancelled', async (context) => {
    const { run, calls } = await world(context, [look('InProgress')]);
    assert.deepEqual(await run(['sleep', '9'], 900), { kind: 'timedOut', output: '' });
    assert.equal(JSON.parse(calls('CancelCommand')[0]?.body ?? '').CommandId, 'c1');
  });

  const notBegun: readonly (readonly [name: string, looks: readonly (Answer | 'silence')[]])[] = [
    ['waits', [look('Pending')]],
    ['is delayed', [look('Delayed')]],
    ['cannot be looked at', ['silence']],
    ['is not known yet', [unknown]],
  ];
  for (const [name, looks] of notBegun)
    test(`that ${name} until the time is up says nothing of the target, and is cancelled`, async (context) => {
      const { run, calls } = await world(context, looks);
      const message = 'Run Command had not begun in time';
      assert.deepEqual(await run(['x'], 900), { kind: 'notStarted', message, isProberError: true });
      assert.equal(calls('CancelCommand').length, 1);
    });

  test('whose sending is not answered says nothing of the target', async (context) => {
    const { run } = await world(context, [], 'silence');
    const message = 'Systems Manager did not answer in time';
    assert.deepEqual(await run(['x'], 300), { kind: 'notStarted', message, isProberError: true });
  });

  test('ends with the run that asked for it', async (context) => {
    const { run, clock } = await world(context, [look('InProgress')]);
    const asked = run(['sleep', '9'], 60_000);
    setTimeout(clock.end, 100);
    assert.equal((await asked).kind, 'notStarted');
  });

  const timedOut = (StatusDetails: string) => look('TimedOut', { StatusDetails });
  const forbidden: Answer = { status: 400, body: { __type: 'AccessDeniedException', message: 'no' } };
  const notStarted = (message: string) => ({ kind: 'notStarted', message, isProberError: false });
  const endedAs = (status: string) => notStarted(`Run Command ended as ${status}`);
  const ends: readonly (readonly [name: string, answer: Answer, expected: object])[] = [
    ['ended by its own time-out', timedOut('Execution Timed Out'), { kind: 'timedOut', output: '' }],
    ['not delivered', timedOut('Delivery Timed Out'), endedAs('Delivery Timed Out')],
    ['cancelled by another client', look('Cancelled'), endedAs('Cancelled')],
    ['failed without an exit code', look('Failed'), endedAs('Failed')],
    ['forbidden to look at', forbidden, notStarted('the prober has no right to run commands on this instance')],
  ];
  for (const [name, answer, expected] of ends)
    test(`${name} is ${JSON.stringify(expected)}`, async (context) => {
      const { run } = await world(context, [answer]);
      assert.deepEqual(await run(['x']), expected);
    });

  const refusals: readonly (readonly [name: string, answer: Answer, own: boolean])[] = [
    ['an instance that is not there', { status: 400, body: { __type: 'InvalidInstanceId', message: 'gone' } }, false],
    ['throttling', throttled, true],
    ['a service that is down', { status: 500, body: { __type: 'InternalServerError' } }, true],
    ['an answer without an id', { body: {} }, true],
  ];
  for (const [name, answer, own] of refusals)
    test(`${name}: the command was not started`, async (context) => {
      const { run, calls } = await world(context, [], answer);
      const outcome = await run(['x']);
      assert.equal(outcome.kind, 'notStarted');
      assert.equal(outcome.kind === 'notStarted' && outcome.isProberError, own);
      assert.equal(calls('GetCommandInvocation').length, 0);
    });
});
