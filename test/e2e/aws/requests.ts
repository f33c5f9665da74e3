/** Signed requests of a user with access keys: to the deployed API, and to services that have no client here. */
import assert from 'node:assert/strict';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Api } from '../api.ts';

type Request = {
  readonly service: string;
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Send = (request: Request) => Promise<{ readonly status: number; readonly text: string }>;

const timeoutMs = 35_000;

/** Signature version 4, by the signer of a client that is there anyway. */
export function signedSend(client: SQSClient): Send {
  return async ({ service, method, url, headers = {}, body }) => {
    const { protocol, hostname, port, host, pathname, searchParams } = new URL(url);
    const signer = await client.config.signer();
    const plain = {
      ...{ method, protocol, hostname, port: Number(port), path: pathname, query: Object.fromEntries(searchParams) },
      headers: { host, ...headers },
      body,
    };
    const { headers: signed } = await signer.sign(plain, { signingService: service });
    const { host: _, ...sent } = signed;
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method, headers: sent, signal, ...(body !== undefined && { body }) });
    return { status: response.status, text: await response.text() };
  };
}

/** Requests to IAM's query protocol. */
export const iamOf =
  (send: Send, endpoint: string) =>
  async (input: Readonly<Record<string, string>>): Promise<string> => {
    const body = new URLSearchParams({ ...input, Version: '2010-05-08' }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status, text } = await send({ service: 'iam', method: 'POST', url: `${endpoint}/`, headers, body });
    assert.equal(status, 200, text);
    return text;
  };

/** The API of the deployment; `url` ends with the stage. */
export function deployedApi(send: Send, url: string): Api {
  return async (method, path, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const json = body === undefined ? {} : { headers: { 'content-type': type }, body: JSON.stringify(body) };
    const { status, text } = await send({ service: 'execute-api', method, url: url + path, ...json });
    return { status, body: text === '' ? undefined : JSON.parse(text) };
  };
}
