/** `npm start` for the browser's tests, and what a page tries on it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProduct } from '../../local/product.ts';
import { askApi } from '../../support/api-client.ts';
import type { Attempt } from './page.ts';

export type Served = {
  readonly port: number;
  /** What is registered from the beginning. */
  readonly registered: string;
  /** Names of the targets that are stored, asked as a program of this machine asks. */
  targets(): Promise<readonly string[]>;
  stop(): Promise<void>;
};

export const token = 'a-token-of-sixteen-characters-or-more';
const registered = 'mine';
const spec = { spec: { host: '127.0.0.1', readinessProbe: { tcpSocket: { port: 9 }, periodSeconds: 3600 } } };

export async function startProbelet(port: number, { token: needed = false } = {}): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'browser-'));
  const file = join(folder, 'token');
  writeFileSync(file, token, { mode: 0o600 });
  const options = ['--port', String(port), '--data-dir', join(folder, 'data')];
  const product = await startProduct([...options, ...(needed ? ['--token-file', file] : [])]);
  const api = (method: string, path: string, body?: object) =>
    askApi(product.url, method, path, body, { authorization: `Bearer ${token}` });
  const created = await api('PUT', `${targets}/${registered}`, spec);
  if (created.status !== 201) throw new Error(created.text);
  return {
    port: product.port,
    registered,
    targets: async () => (await api('GET', '/v1/targets')).body.items.map(({ metadata }) => metadata.name),
    async stop() {
      await product.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

const targets = '/v1/namespaces/e2e/targets';
const own = `${targets}/evil`;
const json = JSON.stringify(spec);
const named = JSON.stringify({ ...spec, metadata: { name: 'evil' } });

/** Requests with their status, in an order in which each succeeds with the token. */
export const routes: readonly (readonly [method: string, path: string, body: string | undefined, status: number])[] = [
  ['GET', '/healthz', undefined, 200],
  ['GET', '/metrics', undefined, 200],
  ['GET', '/openapi.json', undefined, 200],
  ['GET', '/v1/targets', undefined, 200],
  ['GET', targets, undefined, 200],
  ['POST', `${targets}?dryRun=true`, named, 201],
  ['PUT', own, json, 201],
  ['GET', own, undefined, 200],
  ['GET', `${own}/events`, undefined, 200],
  ['PATCH', own, '{"metadata":{"labels":{"a":"b"}}}', 200],
  ['DELETE', `${own}?gracePeriodSeconds=0`, undefined, 202],
];

const verbs = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const paths = [
  ...['/healthz', '/metrics', '/openapi.json', '/v1/targets', '/v1/watch'],
  ...[targets, own, '/v1/namespaces/e2e/targets/mine', '/nothing'],
];
const embedded = ['no-cors', 'img', 'script', 'link', 'iframe', 'websocket', 'eventsource'] as const;

/** Every verb on every path by fetch, and what pages can send otherwise. */
export function attempts(origin: string): readonly Attempt[] {
  const bodyOf = (method: string) => (['GET', 'HEAD'].includes(method) ? {} : { body: json });
  const plain = { 'content-type': 'text/plain' };
  const typed = { 'content-type': 'application/json' };
  return [
    ...paths.flatMap((path) => [
      ...verbs.map(
        (method): Attempt => ({ way: 'fetch', method, url: origin + path, headers: typed, ...bodyOf(method) }),
      ),
      ...embedded.map((way): Attempt => ({ way, method: 'GET', url: origin + path })),
    ]),
    ...verbs.map((method): Attempt => ({ way: 'xhr', method, url: origin + own, ...bodyOf(method) })),
    { way: 'fetch', method: 'POST', url: origin + own, headers: plain, body: json },
    { way: 'no-cors', method: 'POST', url: origin + own, body: json },
    { way: 'beacon', method: 'POST', url: origin + own, body: json },
    { way: 'form', method: 'POST', url: origin + own, body: json },
    { way: 'form', method: 'POST', url: origin + targets, body: named },
    { way: 'beacon', method: 'POST', url: origin + targets, body: named },
    { way: 'form', method: 'GET', url: `${origin}/v1/targets`, body: json },
  ];
}
