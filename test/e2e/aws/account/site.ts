/** The account in which the steps are played: who signs, and where its services are. */
import assert from 'node:assert/strict';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { sqsClient } from '../../../../shared/queue/sqs-call.ts';
import { until } from '../../../support/wait.ts';
import type { Keys, Place } from '../cdk.ts';
import { type Send, signedSend } from '../requests.ts';

export type Site = {
  readonly place: Place;
  /** Of an emulator in the place of AWS. */
  readonly endpoint: string | undefined;
  /** With the credentials of the environment. */
  readonly client: SQSClient;
  readonly send: Send;
  /** Where a service is reached; IAM has no regions. */
  urlOf(service: string): string;
  /** Requests of a role, once the account knows it. */
  as(roleArn: string): Promise<Send>;
  /** Ends all clients. */
  stop(): void;
};

export type SiteOptions = Place & { readonly endpoint?: string };

/** A role that has just been made is not known everywhere at once. */
const roleMs = 60_000;

export function siteOf({ endpoint, ...place }: SiteOptions): Site {
  const { region } = place;
  const clients: SQSClient[] = [];
  const clientOf = (credentials?: Keys) => {
    const client = sqsClient({ region, ...(endpoint && { endpoint }), ...(credentials && { credentials }) });
    clients.push(client);
    return client;
  };
  const client = clientOf();
  const send = signedSend(client);
  const hostOf = (service: string) => (service === 'iam' ? service : `${service}.${region}`);
  const urlOf = (service: string) => endpoint ?? `https://${hostOf(service)}.amazonaws.com`;
  const sts = (asked: Readonly<Record<string, string>>) =>
    query({ send, service: 'sts', url: urlOf('sts') }, { ...asked, Version: '2011-06-15' });
  return {
    ...{ place, endpoint, client, send, urlOf },
    async as(RoleArn) {
      const asked = { Action: 'AssumeRole', RoleArn, RoleSessionName: 'probelet-e2e' };
      const text = await until(`${RoleArn} can be assumed`, roleMs, async () => {
        const { status, text } = await sts(asked);
        return status === 200 && text;
      });
      const [accessKeyId = '', secretAccessKey = '', sessionToken = ''] = [
        'AccessKeyId',
        'SecretAccessKey',
        'SessionToken',
      ].map((name) => textOf(text, name));
      return signedSend(clientOf({ accessKeyId, secretAccessKey, sessionToken }));
    },
    stop() {
      for (const each of clients) each.destroy();
    },
  };
}

/** @throws AssertionError if the credentials are of another account than the one that was named. */
export async function requireAccount({ send, urlOf, place }: Site): Promise<void> {
  const asked = { Action: 'GetCallerIdentity', Version: '2011-06-15' };
  const { status, text } = await query({ send, service: 'sts', url: urlOf('sts') }, asked);
  assert.equal(status, 200, text);
  assert.equal(textOf(text, 'Account'), place.account, 'the credentials are of another account than --account');
}

/** @throws AssertionError if the account has one of these stacks: it may be in use. */
export async function requireNoStacks({ send, urlOf }: Site, names: readonly string[]): Promise<void> {
  for (const StackName of names) {
    const asked = { Action: 'DescribeStacks', StackName, Version: '2010-05-15' };
    const { status, text } = await query({ send, service: 'cloudformation', url: urlOf('cloudformation') }, asked);
    const isThere = status === 200 && text.includes('<StackId>') && !text.includes('DELETE_COMPLETE');
    assert.ok(!isThere, `there is a stack ${StackName}: destroy it first, or name another account`);
  }
}

type Asked = { readonly send: Send; readonly service: string; readonly url: string };

/** By the query protocol. */
export function query({ send, service, url }: Asked, input: Readonly<Record<string, string>>) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return send({ service, method: 'POST', url: `${url}/`, headers, body: new URLSearchParams(input).toString() });
}

const textOf = (xml: string, name: string): string | undefined => new RegExp(`<${name}>([^<]+)<`).exec(xml)?.[1];
