/** Commands about an API on AWS: what API Gateway and CloudFormation of an emulator make of signed requests. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { awsSigner } from '../../../functions/client/aws-signer.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { immediateClock } from '../../support/immediate-clock.ts';
import { startMinistack } from '../../support/ministack.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/wait.ts';
import { type RunOptions, ranCli } from './run.ts';
import { foreignServer, servedWorld } from './served.ts';

const region = 'us-east-1';
const home = temporaryFolder();
const file = (name: string, text: string): string => {
  writeFileSync(join(home, name), text);
  return join(home, name);
};
/** Nothing of this machine's own: neither profiles nor keys nor an instance's role. */
const environment = {
  HOME: home,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_SHARED_CREDENTIALS_FILE: file('credentials', '[wrong]\naws_access_key_id = A\naws_secret_access_key = b\n'),
  AWS_CONFIG_FILE: file('config', '[profile wrong]\nregion = us-east-1\n'),
};
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, environment);
});

/** Its time is real, but nothing waits. */
const clock = { ...immediateClock(10_000), nowMs: () => Date.now() };
const run = (args: readonly string[], options: RunOptions = {}) =>
  ranCli(args, { clock, ...options, env: { HOME: home, ...options.env } });

type Keys = { readonly accessKeyId: string; readonly secretAccessKey: string };

function withKeys({ accessKeyId, secretAccessKey }: Keys): void {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
}

describe('an API behind API Gateway', async () => {
  const { world, url: upstream } = await servedWorld();
  const emulator = await startMinistack({ isStrict: true });
  after(emulator.stop);
  const owner = { accessKeyId: 'test', secretAccessKey: 'test' };

  async function called(service: string, input: Readonly<Record<string, string>>): Promise<string> {
    const url = new URL(emulator.endpoint);
    const signer = awsSigner({ region, service, clock, timeoutMs: 5_000, credentials: async () => owner });
    const body = new URLSearchParams(input).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { host: _, ...signed } = await signer.sign({ method: 'POST', url, headers, body });
    const answer = await fetch(url, { method: 'POST', headers: signed, body });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return text;
  }

  const ofApi = { ApiId: { Ref: 'Api' } };
  const api = { Type: 'AWS::ApiGatewayV2::Api', Properties: { Name: 'probelet', ProtocolType: 'HTTP' } };
  const stage = {
    Type: 'AWS::ApiGatewayV2::Stage',
    Properties: { ...ofApi, StageName: '$default', AutoDeploy: true },
  };
  const integration = {
    Type: 'AWS::ApiGatewayV2::Integration',
    // The emulator puts the path behind the address, as API Gateway does by a variable.
    Properties: {
      ...ofApi,
      IntegrationType: 'HTTP_PROXY',
      IntegrationMethod: 'ANY',
      IntegrationUri: upstream,
      PayloadFormatVersion: '1.0',
    },
  };
  const route = (RouteKey: string) => ({
    Type: 'AWS::ApiGatewayV2::Route',
    Properties: {
      ...ofApi,
      RouteKey,
      AuthorizationType: 'AWS_IAM',
      Target: { 'Fn::Sub': `integrations/\${Integration}` },
    },
  });
  const health = route('GET /healthz');
  const address = { Value: { 'Fn::Sub': `https://\${Api}.execute-api.${region}.amazonaws.com/` } };

  async function stackOf(name: string, outputs: object, more: object = {}): Promise<string> {
    const TemplateBody = JSON.stringify({ Resources: { Api: api, ...more }, Outputs: outputs });
    await called('cloudformation', { Action: 'CreateStack', Version: '2010-05-15', StackName: name, TemplateBody });
    return until(`stack ${name} is there`, 10_000, async () => {
      const text = await called('cloudformation', { Action: 'DescribeStacks', Version: '2010-05-15', StackName: name });
      return text.includes('CREATE_COMPLETE') && text;
    });
  }

  async function keysOf(user: string, actions: readonly string[]): Promise<Keys> {
    const iam = (input: Readonly<Record<string, string>>) =>
      called('iam', { Version: '2010-05-08', UserName: user, ...input });
    await iam({ Action: 'CreateUser' });
    const PolicyDocument = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: actions, Resource: '*' }],
    });
    await iam({ Action: 'PutUserPolicy', PolicyName: 'uses', PolicyDocument });
    const made = await iam({ Action: 'CreateAccessKey' });
    const of = (name: string) => new RegExp(`<${name}>([^<]+)<`).exec(made)?.[1] ?? '';
    return { accessKeyId: of('AccessKeyId'), secretAccessKey: of('SecretAccessKey') };
  }

  const described = await stackOf(
    'Probelet',
    { BusName: { Value: 'a & b' }, ApiUrl: address },
    {
      Stage: stage,
      Integration: integration,
      Targets: route('ANY /v1/namespaces/{proxy+}'),
      All: route('GET /v1/targets'),
      Document: route('GET /openapi.json'),
      Health: { ...health, Properties: { ...health.Properties, AuthorizationType: 'NONE' } },
    },
  );
  await stackOf('Own', { Address: address, Topic: { Value: 'arn:aws:sns:us-east-1:000000000000:a' } });
  await stackOf('Construct', {
    ShopProbeletApiUrl1A2B3C4D: address,
    Web: { Value: 'https://a.execute-api.us-east-1.amazonaws.com/' },
  });
  await stackOf('Other', { BusName: { Value: 'a' }, TableName: { Value: 'b' } });
  const id = /https:\/\/(\w+)\.execute-api/.exec(described)?.[1] ?? '';
  const url = `${emulator.endpoint}/_aws/execute-api/${id}/$default`;
  const operator = await keysOf('operator', ['execute-api:Invoke', 'cloudformation:DescribeStacks']);
  const stranger = await keysOf('stranger', ['sqs:SendMessage']);
  const emulated = { env: { AWS_ENDPOINT_URL: emulator.endpoint } };
  const signed = ['--server', url, '--auth', 'aws'];

  test('is found by its stack, and the context says how to sign', async () => {
    withKeys(operator);
    const found = `https://${id}.execute-api.${region}.amazonaws.com`;
    assert.deepEqual(await run(['context', 'add', 'prod', '--stack', 'Probelet', '--region', region], emulated), {
      code: 0,
      out: `context/prod added: ${found}, region ${region}\n`,
      err: [],
    });
    assert.match((await run(['context', 'list'])).out, /prod +https:\/\/\w+\.execute-api\S+ +aws us-east-1\n/);
    process.env.AWS_REGION = region;
    const own = await run(['context', 'add', 'own', '--stack', 'Own'], emulated);
    assert.match(
      own.out,
      /^context\/own added: https:\/\/\w+\.execute-api\.us-east-1\.amazonaws\.com, region us-east-1\n/,
    );
    const construct = await run(['context', 'add', 'construct', '--stack', 'Construct'], emulated);
    assert.match(construct.out, /^context\/construct added: https:\/\/\w{2,}\.execute-api\./);
  });

  test('is not found where there is no such stack, output, permission, key or region', async () => {
    const add = (stack: string, ...more: readonly string[]) =>
      run(['context', 'add', 'x', '--stack', stack, ...more], emulated);
    withKeys(operator);
    assert.deepEqual(await add('None', '--region', region), {
      code: 4,
      out: '',
      err: [`error: there is no stack None in region ${region}: name another, or its --region and --profile`],
    });
    assert.deepEqual(await add('Other', '--region', region), {
      code: 4,
      out: '',
      err: [
        'error: stack Other has no output ApiUrl (but BusName, TableName): add it to the app, or name the address by --url and --auth aws',
      ],
    });
    assert.deepEqual((await add('Probelet')).err, [
      "error: no AWS region is configured: set AWS_REGION, or name it by 'probelet context add … --region'",
    ]);
    assert.match(
      (await add('Probelet', '--profile', 'wrong')).err[0] ?? '',
      /^error: CloudFormation refuses the AWS credentials \(403 \w+\): choose others by --profile/,
    );
    withKeys(stranger);
    assert.deepEqual((await add('Probelet', '--region', region)).err, [
      'error: the caller may not ask for stack Probelet: allow cloudformation:DescribeStacks, or give --url',
    ]);
    for (const args of [['No such name'], ['Probelet', '--region', 'nowhere'], ['Probelet', '--url', url]])
      assert.equal((await add(args[0] ?? '', ...args.slice(1))).code, 2, args.join(' '));
  });

  test('answers signed requests only', async () => {
    await world.expect(201, 'PUT', '/v1/namespaces/default/targets/a', {
      spec: { host: 'a', containers: [{ name: 'a' }] },
    });
    withKeys(operator);
    process.env.AWS_REGION = region;
    const get = ['get', 'targets', '-o', 'name', '-l', 'team notin (shop, other),tier!=c', ...signed];
    assert.deepEqual(await run(get), { code: 0, out: 'target/a\n', err: [] });
    assert.deepEqual((await run(['get', 'target', 'b', ...signed])).code, 4);
    assert.deepEqual(
      (await run(['delete', 'target', 'a', '--dry-run', ...signed])).out,
      'target/a deleted (dry run)\n',
    );
    await run(['context', 'add', 'emulated', '--url', url, '--auth', 'aws', '--region', region]);
    delete process.env.AWS_REGION;
    assert.equal((await run(['get', 'targets', '-A', '--context', 'emulated'])).code, 0);

    const { err } = await run(['get', 'targets', '--server', url, '--auth', 'none']);
    assert.match(
      err[0] ?? '',
      /refuses requests without a signature of AWS \(403.*\): sign with --auth aws, or use a con/,
    );
  });

  test('refuses a secret key that is wrong', async () => {
    process.env.AWS_REGION = region;
    withKeys({ ...operator, secretAccessKey: 'wrong' });
    assert.deepEqual((await run(['get', 'targets', ...signed])).err, [
      `error: ${url} refuses the AWS credentials (403 InvalidSignatureException; region ${region}): the secret access key is wrong: choose other credentials by AWS_PROFILE`,
    ]);
  });

  test('is in order for doctor, which finds keys that are wrong', async () => {
    process.env.AWS_REGION = region;
    withKeys(operator);
    const doctor = ['doctor', '--data-dir', ':memory:', ...signed];
    const { out } = await run(doctor, { clock: systemClock });
    assert.match(out, /^ok +server .*\nok +credentials +the AWS credentials are accepted \(the configured region\)\n/);
    withKeys({ ...operator, secretAccessKey: 'wrong' });
    const wrong = await run(doctor, { clock: systemClock });
    assert.match(wrong.out, /^ok +server .*\nfail +credentials +.* the secret access key is wrong → choose other cred/);
    assert.equal(wrong.code, 1);
  });

  test('has no stream, so --watch lists again', async () => {
    withKeys(operator);
    process.env.AWS_REGION = region;
    const interrupt = new AbortController();
    let printed = '';
    const onOut = (text: string) => {
      printed += text;
      if (printed.includes('target/late')) return interrupt.abort();
      if (!printed.endsWith('target/a\n')) return;
      const spec = { host: 'a', containers: [{ name: 'a' }] };
      void world.expect(201, 'PUT', '/v1/namespaces/default/targets/late', { spec });
    };
    const watch = ['get', 'targets', '-w', '-o', 'name', ...signed];
    const { code, out, err } = await run(watch, { onOut, interrupted: () => interrupt.signal });
    assert.deepEqual([code, out, err], [0, 'target/a\ntarget/late\n', []]);
  });
});

describe('credentials', () => {
  const get = (url: string, ...more: readonly string[]) =>
    run(['get', 'targets', '--server', url, '--auth', 'aws', ...more]);
  const here = 'http://127.0.0.1:9';

  test('that are not there are asked for', async () => {
    process.env.AWS_REGION = region;
    assert.deepEqual((await get(here)).err, [
      "error: no AWS credentials (Could not load credentials from any providers): log in, such as by 'aws sso login', or name a profile by AWS_PROFILE",
    ]);
    await run(['context', 'add', 'none', '--url', here, '--auth', 'aws', '--profile', 'none']);
    const { err } = await run(['get', 'targets', '--context', 'none']);
    assert.match(err[0] ?? '', /^error: no AWS credentials for profile none \(Could not load .*\): log in/);
  });

  test('that have expired are not sent', async () => {
    Object.assign(process.env, { AWS_REGION: region, AWS_CREDENTIAL_EXPIRATION: '2026-01-01T00:00:00Z' });
    withKeys({ accessKeyId: 'A', secretAccessKey: 'b' });
    assert.deepEqual((await get(here)).err, [
      "error: the AWS credentials expired at 2026-01-01T00:00:00.000Z: log in again, such as by 'aws sso login'",
    ]);
  });

  test('need a region, which the address of API Gateway has', async () => {
    withKeys({ accessKeyId: 'A', secretAccessKey: 'b' });
    assert.match((await get(here)).err[0] ?? '', /^error: no AWS region is configured/);
    const add = ['context', 'add', 'x', '--url', 'https://abc.execute-api.eu-west-1.amazonaws.com'];
    assert.deepEqual((await run([...add, '--auth', 'aws', '--region', region])).err, [
      "error: --region: the address is one of region eu-west-1. See 'probelet context --help'.",
    ]);
    assert.equal((await run([...add, '--region', 'eu-west-1'])).code, 2);
    assert.equal((await run(['context', 'add', 'x'])).code, 2);
  });

  test('sign requests to an address of API Gateway, unless there is a token', async () => {
    const seen: (string | undefined)[] = [];
    const proxy = await foreignServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"metadata":{},"items":[]}');
    });
    withKeys({ accessKeyId: 'A', secretAccessKey: 'b' });
    const asked = ['get', 'targets', '--server', 'http://abc.execute-api.eu-west-1.amazonaws.com'];
    const env = { HTTP_PROXY: proxy };
    for (const [args, more] of [
      [[], {}],
      [[], { PROBELET_TOKEN: 'secret' }],
      [['--auth', 'aws'], { PROBELET_TOKEN: 'secret' }],
      [['--auth', 'none'], { PROBELET_TOKEN: 'secret' }],
    ] as const)
      assert.equal((await run([...asked, ...args], { env: { ...env, ...more } })).code, 0);
    const kinds = seen.map((each) => each?.replace(/\/\d{8}\/(\S+),.*/, ' $1'));
    const signature = 'AWS4-HMAC-SHA256 Credential=A eu-west-1/execute-api/aws4_request';
    assert.deepEqual(kinds, [signature, 'Bearer secret', signature, undefined]);
    const { err } = await run([...asked, '--auth', 'token']);
    assert.deepEqual(err, ['error: there is no token: give its file by --token-file, or set PROBELET_TOKEN']);
  });

  test('that API Gateway refuses are an error that says why', async () => {
    process.env.AWS_REGION = region;
    withKeys({ accessKeyId: 'A', secretAccessKey: 'b' });
    const gateway = (status: number, headers: Readonly<Record<string, string>> = {}) =>
      foreignServer((_, response) =>
        response
          .writeHead(status, { 'content-type': 'application/json', ...headers })
          .end(JSON.stringify({ message: 'of API Gateway' })),
      );
    const hourAgo = new Date(Date.now() - 3_600_000).toUTCString();
    for (const [status, headers, line] of [
      [
        403,
        {},
        `refuses the AWS credentials (403; region ${region}): check the account and the region, and that the caller may invoke the route (execute-api:Invoke)`,
      ],
      [
        403,
        { date: hourAgo },
        `refuses the AWS credentials (403; region ${region}): the clock of this machine is 60 min ahead: correct it`,
      ],
      [
        403,
        { 'x-amzn-errortype': 'ExpiredTokenException:https://a.test' },
        `refuses the AWS credentials (403 ExpiredTokenException; region ${region}): the AWS credentials have expired: log in again, such as by 'aws sso login'`,
      ],
      [
        403,
        { 'x-amzn-errortype': 'UnrecognizedClientException' },
        `refuses the AWS credentials (403 UnrecognizedClientException; region ${region}): AWS does not know the access key: choose other credentials by AWS_PROFILE`,
      ],
      [429, {}, 'is asked too often (429): ask again later'],
      [500, {}, "could not answer (500): look at the log of the API's function"],
      [
        404,
        {},
        "is not probelet's API (the answer has the status 404 without a problem): correct the address or proxy",
      ],
    ] as const) {
      const url = await gateway(status, headers);
      assert.deepEqual((await get(url)).err, [`error: ${url} ${line}`]);
    }
  });
});
