/** What the API of a deployment says of probes that its prober refuses. Both get their variables from one template. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { deployedAdvise } from '../../functions/api/api.ts';
import { type Environment, readEnvironment } from '../../functions/lambda/environment.ts';
import { runProbing } from '../../functions/run-probing.ts';
import { decodeManifest } from '../../shared/api/schema/decode-manifest.ts';
import type { AwsCall } from '../../shared/aws/aws-call.ts';
import { specProbes, type TargetSpec } from '../../shared/core/spec/spec.ts';
import type { Runner } from '../../shared/exec/exec.ts';
import { namedRunner } from '../../shared/exec/named.ts';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { resolver } from '../../shared/net/resolver.ts';
import { probe } from '../../shared/prober/probe.ts';
import { awsSecrets } from '../../shared/secrets/aws.ts';
import { type Deployment, nameOf, resourcesOf, synthesized } from '../support/synthesized.ts';

const name = { namespace: 'default', name: 'checkout' };
const account = '000000000000';
const arnOf = (functionName: string) => `arn:aws:lambda:us-east-1:${account}:function:${functionName}`;

type Variables = { readonly [name: string]: string };

/** Of a function, by a part of its name in the template. */
function variablesOf(deployment: Deployment, part: string): Variables {
  const functions = resourcesOf(synthesized(deployment), 'AWS::Lambda::Function');
  return functions.find(({ id }) => nameOf(id).includes(part))?.Properties.Environment.Variables;
}

const ofBoth = ['allowCidrs', 'allowLoopback', 'execSsm', 'secretHosts'] as const;

const adviseOf = (deployment: Deployment) =>
  deployedAdvise(readEnvironment([...ofBoth, 'execNames'], variablesOf(deployment, 'Api')));

/** AWS itself: every function and instance runs every command, every secret has a value. */
const succeeding: Runner = async () => ({ kind: 'exited', exitCode: 0, output: '' });
const body = '{"Parameter":{"Value":"hush"}}';
const call: AwsCall = async () => ({ kind: 'answer', status: 200, headers: {}, body });

type Probing = Pick<Environment, (typeof ofBoth)[number] | 'execFunctions'>;

const probingOf = ({ allowCidrs, allowLoopback, execFunctions, execSsm, secretHosts }: Probing) =>
  runProbing({
    clock,
    policy: dialPolicy({ mode: 'aws', allowCidrs, allowLoopback }),
    resolveOn: (own) => resolver({ clock: own }),
    outside: (own) => ({
      run: namedRunner({
        lambda: new Map([...execFunctions.keys()].map((each) => [each, succeeding])),
        ...(execSsm && { ssm: () => succeeding }),
      }),
      secrets: awsSecrets({ call, clock: own, hosts: secretHosts }),
    }),
  });

/** Port 9 of loopback refuses at once. */
const tcp = (host: string) => ({ tcpSocket: { host, port: 9 } });
const exec = (...command: readonly string[]) => ({ exec: { command } });
const withSecret = (reference: string, port = 9) => ({
  httpGet: { host: '127.0.0.1', port, httpHeaders: [{ name: 'Authorization', value: reference }] },
});

type Handler = { readonly [kind: string]: unknown };

function specOf(handler: Handler): TargetSpec {
  const decoded = decodeManifest({ spec: { host: '127.0.0.1', livenessProbe: handler } }, name);
  assert.ok(decoded.kind === 'ok', JSON.stringify(decoded));
  return decoded.value.target.spec;
}

/** On an emulator, since there loopback may be dialed. */
const generous: Deployment = (stack) => ({
  stage: 'emulator',
  allowLoopback: true,
  secrets: { 'ssm:/probelet/token': ['127.0.0.1:9'] },
  execRunner: {
    functions: { db: LambdaFunction.fromFunctionArn(stack, 'Exec', arnOf('db')) },
    instances: { tagKey: 'probelet', tagValue: 'exec' },
  },
});

const notNamed = /no function named "other" runs .*; .*execRunner names what runs commands$/;
const ofAnotherPort = /secrets: \{ 'ssm:\/probelet\/token': \['127\.0\.0\.1:10'\] \} would/;

/** The words of the advice; absent: none. */
const rows: readonly (readonly [what: string, handler: Handler, advice?: RegExp])[] = [
  ['loopback of an emulator', tcp('127.0.0.1')],
  ['a private address', tcp('10.0.0.1'), /^the dial policy denies 10\.0\.0\.1; the deployment's allowCidrs would/],
  ['another private address', tcp('fd12::1'), /allowCidrs would allow it/],
  ['metadata of the cloud', tcp('169.254.169.254'), /no setting of the deployment allows it/],
  ['metadata of the cloud, in IPv6', tcp('::ffff:169.254.169.254'), /no setting of the deployment allows it/],
  ['a function that is named', exec('lambda:db', 'x')],
  ['an instance', exec('ssm:i-0123456789abcdef0', 'x')],
  ['a function that is not named', exec('lambda:other', 'x'), notNamed],
  ['no default function', exec('cat', '/tmp/healthy'), /^no function is named default; /],
  ['nothing behind the function', exec('lambda:db'), /nothing to run after "lambda:db"; /],
  ['no instance', exec('ssm:checkout', 'x'), /"checkout" is not the id of an instance; /],
  ['a secret for this host', withSecret('ssm:/probelet/token')],
  ['a secret for another port', withSecret('ssm:/probelet/token', 10), ofAnotherPort],
  ['a secret that is not named', withSecret('secretsmanager:probelet/other'), /may not be sent to 127\.0\.0\.1:9; /],
  ['a secret for something else', withSecret('ssm:/shop/token'), /has to begin with \/probelet\//],
  ['a variable', withSecret('env:TOKEN'), /on AWS secrets are ssm: or secretsmanager:/],
];

describe('advice is given of what the prober of the deployment then refuses, and of nothing else', () => {
  const probing = probingOf(readEnvironment([...ofBoth, 'execFunctions'], variablesOf(generous, 'ProberFleet')));
  const advise = adviseOf(generous);
  after(probing.abandon);

  for (const [what, handler, advice] of rows)
    test(what, async () => {
      const spec = specOf(handler);
      const [first] = specProbes(spec);
      assert.ok(first);
      const { probeType, container } = first;
      const order = { target: { ...name, uid: 'u' }, host: spec.host, container: container.spec, handler: first.probe };
      const { probers } = probing;
      const report = await probe({ probers, clock }, { ...order, probeType, containerKind: container.kind });
      assert.equal(report.conclusion.kind === 'error', advice !== undefined, JSON.stringify(report.conclusion));
      const [advised] = advise(spec);
      assert.equal(advised?.pointer, advice && '/spec/containers/0/livenessProbe');
      if (advice) assert.match(advised?.detail ?? '', advice);
    });
});

test('a deployment that names nothing allows public addresses alone', () => {
  const advise = adviseOf(() => ({}));
  const detailOf = (handler: Handler) => advise(specOf(handler))[0]?.detail;
  assert.equal(detailOf(tcp('2606:4700::1')), undefined);
  assert.match(detailOf(tcp('127.0.0.1')) ?? '', /no setting of the deployment allows it/);
  assert.match(detailOf(exec('true')) ?? '', /^exec probes are off in this deployment; /);
  assert.match(detailOf(withSecret('ssm:/probelet/token')) ?? '', /secrets: \{ 'ssm:\/probelet\/token': /);
});

test('a range that the deployment allows is not warned of', () => {
  const advise = adviseOf(() => ({ allowCidrs: ['10.0.0.0/8'] }));
  assert.deepEqual(advise(specOf(tcp('10.0.0.1'))), []);
  assert.equal(advise(specOf(tcp('192.168.0.1'))).length, 1);
});

test('the API learns the names of functions, not which they are', () => {
  const learnt = Object.entries(variablesOf(generous, 'Api')).filter(([name]) => /EXEC|SECRETS|ALLOW/.test(name));
  assert.deepEqual(Object.fromEntries(learnt), {
    PROBELET_SECRETS: 'ssm:/probelet/token 127.0.0.1:9',
    PROBELET_ALLOW_LOOPBACK: '1',
    PROBELET_EXEC_NAMES: 'db',
    PROBELET_EXEC_SSM: '1',
  });
});
