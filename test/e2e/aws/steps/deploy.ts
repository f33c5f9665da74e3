/** A fresh emulator with two stacks on it: the product, and a subscriber who has nothing to do with it. */
import assert from 'node:assert/strict';
import { sqsClient } from '../../../../shared/queue/sqs-call.ts';
import { cdkCli, emulatorPlace, type Keys, region } from '../cdk.ts';
import { type Cli, cliOf } from '../cli.ts';
import { type Cloud, probeletApp, subscriberApp } from '../cloud.ts';
import { startEmulator } from '../emulator.ts';
import { readInbox } from '../inbox.ts';
import { deployedApi, iamOf, type Send, signedSend } from '../requests.ts';
import { deployedRights } from '../rights.ts';
import type { Runner } from '../runner.ts';

export type Use = (stop: () => Promise<void> | void) => void;

export async function deployAll({ step }: Runner, use: Use): Promise<Cloud> {
  const emulator = await step('starts an emulator of AWS', startEmulator);
  use(emulator.stop);
  const { endpoint } = emulator;
  const owner: Keys = { accessKeyId: `E2E${crypto.randomUUID().slice(0, 8)}`, secretAccessKey: 'local' };
  const cdk = cdkCli(emulatorPlace(endpoint, owner));
  use(cdk.stop);
  const client = clientOf(endpoint, owner);
  use(() => client.destroy());
  const send = signedSend(client);
  await step('cdk bootstrap', cdk.bootstrap);
  const outputs = await step('cdk deploy', () => cdk.deploy(probeletApp()));
  const enforceRights = async () => emulator.guard.enforce(await deployedRights(send, endpoint));
  await step('the functions may do what their roles allow, and nothing else', enforceRights);
  const url = apiUrl(endpoint, outputs.ApiUrl);
  const bus = outputs.BusName ?? '';
  const subscriber = await step('another stack subscribes to the bus', async () => {
    const outputs = await cdk.deploy(subscriberApp(bus));
    await enforceRights();
    return outputs;
  });
  const inbox = readInbox(client, subscriber.InboxUrl ?? '');
  use(inbox.stop);
  const keys = await step('an operator gets keys', () => operatorKeys(send, endpoint));
  const user = clientOf(endpoint, keys);
  use(() => user.destroy());
  const cli = cliOf(endpoint, keys);
  use(cli.stop);
  await step('the command line finds the API by its stack', () => contextAdded(cli, { output: outputs.ApiUrl, url }));
  const api = deployedApi(signedSend(user), url);
  await step('the API refuses whoever does not sign, but for its health', () => refused(url));
  return { emulator, cdk, send, api, cli, inbox, bus, use };
}

const clientOf = (endpoint: string, credentials: Keys) => sqsClient({ endpoint, region, credentials });

/** The emulator serves all APIs below its own address. */
export function apiUrl(endpoint: string, output = ''): string {
  const [apiId] = new URL(output).hostname.split('.');
  return `${endpoint}/_aws/execute-api/${apiId}/$default`;
}

type Addresses = { readonly output: string | undefined; readonly url: string };

/** `output`: where the API would be on AWS. */
async function contextAdded(cli: Cli, { output = '', url }: Addresses): Promise<void> {
  const added = await cli(['context', 'add', 'aws', '--stack', 'Probelet']);
  assert.equal(added, `context/aws added: ${output.replace(/\/$/, '')}, region ${region}\n`);
  await cli(['context', 'add', 'emulator', '--url', url, '--auth', 'aws', '--region', region, '-n', 'shop']);
  await cli(['context', 'use', 'emulator']);
  assert.match(await cli(['version']), /^Client: \S+\nServer: API \S+, ok\n$/);
}

async function operatorKeys(send: Send, endpoint: string): Promise<Keys> {
  const iam = iamOf(send, endpoint);
  const UserName = 'operator';
  await iam({ Action: 'CreateUser', UserName });
  const made = await iam({ Action: 'CreateAccessKey', UserName });
  const [accessKeyId = '', secretAccessKey = ''] = ['AccessKeyId', 'SecretAccessKey'].map(
    (name) => new RegExp(`<${name}>([^<]+)<`).exec(made)?.[1],
  );
  assert.ok(accessKeyId !== '' && secretAccessKey !== '', made);
  return { accessKeyId, secretAccessKey };
}

async function refused(url: string): Promise<void> {
  for (const path of ['/v1/targets', '/openapi.json']) assert.equal((await fetch(url + path)).status, 403, path);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
}
