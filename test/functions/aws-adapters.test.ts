import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type AwsCall, awsCall, awsJson } from '../../shared/aws/aws-call.ts';
import type { Runner } from '../../shared/exec/exec.ts';
import { lambdaRunner } from '../../shared/exec/lambda.ts';
import { ssmRunner } from '../../shared/exec/ssm.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { awsSecrets } from '../../shared/secrets/aws.ts';
import { type Ministack, ministackSqs, startMinistack } from '../support/ministack.ts';
import { pythonPrograms } from '../support/python-programs.ts';
import { createExecFunction } from './exec-function.ts';

pythonPrograms();

const clock = systemClock;
const soonMs = 30_000;
const target = { namespace: 'default', name: 'checkout', uid: 'u' };

describe('on an emulator of AWS', () => {
  let ministack: Ministack;
  let client: ReturnType<typeof ministackSqs>;
  let call: AwsCall;
  let functionArn = '';

  before(async () => {
    ministack = await startMinistack();
    client = ministackSqs(ministack.endpoint);
    call = awsCall({ client, clock, endpointOf: () => ministack.endpoint });
    functionArn = await createExecFunction(call);
  });
  after(async () => {
    client?.destroy();
    await ministack?.stop();
  });

  const runBy = (runner: Runner, command: readonly string[], timeoutMs = 20_000) =>
    runner({ kind: 'exec', command, target, container: 'main', timeoutMs });
  const run = (...command: readonly string[]) => runBy(lambdaRunner({ call, clock, functionArn }), command);

  test('a named function runs the command of an exec probe', async () => {
    const outcome = await run('echo', 'a b', '"');
    assert.ok(outcome.kind === 'exited', JSON.stringify(outcome));
    assert.deepEqual(JSON.parse(outcome.output), { args: ['a b', '"'], container: 'main', target, timeoutMs: 20_000 });
  });

  test('its exit code and the first 10 KiB of its output count', async () => {
    const outcome = await run('fail');
    assert.ok(outcome.kind === 'exited');
    assert.deepEqual([outcome.exitCode, Buffer.byteLength(outcome.output)], [3, 10_240]);
  });

  test('a function that throws, or answers something else, has not said how the command ended', async () => {
    const form = 'the function has to answer {"exitCode": integer, "output": string}';
    const messages = { throw: 'the function failed: out of order', odd: form, nothing: form };
    for (const [name, message] of Object.entries(messages))
      assert.deepEqual(await run(name), { kind: 'notStarted', message, isProberError: false });
  });

  test('a function that is not there is no failure of the target', async () => {
    const gone = lambdaRunner({ call, clock, functionArn: functionArn.replace(':check', ':gone') });
    const outcome = await runBy(gone, ['echo']);
    assert.ok(outcome.kind === 'notStarted' && !outcome.isProberError);
    assert.match(outcome.message, /^Lambda refused the call with 404: /);
  });

  test('a function that takes too long is a time-out', async () => {
    const runner = lambdaRunner({ call, clock, functionArn });
    assert.deepEqual(await runBy(runner, ['sleep'], 500), { kind: 'timedOut', output: '' });
  });

  test('an instance that does not exist is no failure of the target', async () => {
    const outcome = await runBy(ssmRunner({ call, clock, instanceId: 'i-0123456789abcdef0' }), ['true']);
    assert.ok(outcome.kind === 'notStarted' && !outcome.isProberError);
    assert.match(outcome.message, /^Systems Manager: InvalidInstanceId/);
  });

  test('secrets that are meant for probes are resolved, and no others', async () => {
    const put = (service: 'ssm' | 'secretsmanager', action: string, input: object) =>
      awsJson(call, { service, target: action, input }, clock.monotonicMs() + soonMs);
    const parameters = ['/probelet/token', '/other/token'];
    for (const Name of parameters)
      await put('ssm', 'AmazonSSM.PutParameter', { Name, Value: `value of ${Name}`, Type: 'SecureString' });
    for (const Name of ['probelet/token', 'other/token'])
      await put('secretsmanager', 'secretsmanager.CreateSecret', { Name, SecretString: `value of ${Name}` });
    const hosts = new Map([['ssm:/probelet/token', [{ host: 'shop.test', isBelow: false }]]]);
    const { resolve, refusal } = awsSecrets({ call, clock, hosts });
    const found = [
      { source: 'ssm', name: '/probelet/token' },
      { source: 'secretsmanager', name: 'probelet/token' },
    ] as const;
    for (const reference of found)
      assert.deepEqual(await resolve(reference), { kind: 'value', value: `value of ${reference.name}` });
    const otherArn = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:other/token';
    const refused = [
      [{ source: 'ssm', name: '/probelet/none' }, 'Systems Manager: ParameterNotFound'],
      [{ source: 'ssm', name: '/other/token' }, 'its name has to begin with /probelet/'],
      [{ source: 'ssm', name: 'probelet/token' }, 'its name has to begin with /probelet/'],
      [{ source: 'ssm', name: '/probelet' }, 'its name has to begin with /probelet/'],
      [{ source: 'secretsmanager', name: 'probelet/none' }, 'Secrets Manager: ResourceNotFoundException'],
      [{ source: 'secretsmanager', name: 'other/token' }, 'its name has to begin with probelet/'],
      [{ source: 'secretsmanager', name: otherArn }, 'its name has to begin with probelet/'],
      [{ source: 'env', name: 'AWS_SECRET_ACCESS_KEY' }, 'on AWS secrets are ssm: or secretsmanager:'],
    ] as const;
    for (const [reference, why] of refused) assert.deepEqual(await resolve(reference), { kind: 'none', why });
    const to = { host: 'shop.test', port: 443 };
    assert.equal(refusal({ source: 'ssm', name: '/probelet/token' }, to), undefined);
    assert.equal(
      refusal({ source: 'secretsmanager', name: 'probelet/token' }, to),
      "it may not be sent to shop.test:443; the deployment's secrets: { 'secretsmanager:probelet/token': ['shop.test:443'] } would allow it",
    );
    assert.equal(refusal({ source: 'ssm', name: '/other/token' }, to), 'its name has to begin with /probelet/');
  });
});
