/** The subscribers of examples/subscribers, beside an `npm start` with real targets that fail and recover. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, type TestContext, test } from 'node:test';
import { endProduct, type Product, startProduct } from '../local/product.ts';
import { type AnswerBody, askApi, targetPath } from '../support/api-client.ts';
import { serverKeys } from '../support/aws-json-server.ts';
import { freePort } from '../support/free-port.ts';
import { listenWith, portOf } from '../support/tcp-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/wait.ts';
import { startTargetGroup, targetGroupArn } from './target-group.ts';

const token = 'of-the-subscribers';
const authorization = { authorization: `Bearer ${token}` };
const patience = { withinMs: 20_000, pollMs: 50 };
const often = { periodSeconds: 1, failureThreshold: 1 };

describe('a subscriber', { concurrency: true }, () => {
  const tokenFile = join(temporaryFolder(), 'token');
  let product: Product;

  before(async () => {
    writeFileSync(tokenFile, token, { mode: 0o600 });
    product = await startProduct(['--port', '0', '--data-dir', ':memory:', '--token-file', tokenFile]);
  });
  after(() => product.stop());

  test('restarts a process that fails, and reports the restart', async (t) => {
    const port = await freePort();
    const worker = new URL('worker.ts', import.meta.url).pathname;
    const lines = subscriber(t, 'restart-process', ['default/worker', process.execPath, worker, `${port}`]);
    const at = (path: string) => `http://127.0.0.1:${port}${path}`;
    const first = await until('the process answers', patience, () => textAt(at('/')));
    await reading(lines);
    await register('worker', { host: '127.0.0.1', livenessProbe: { ...often, httpGet: { path: '/live', port } } });
    await textAt(at('/break'));
    await until('the restart is reported', patience, async () => (await restartsOf('worker')) === 1);
    const second = await until('another process answers', patience, () => textAt(at('/')));
    assert.notEqual(second, first);
    assert.deepEqual(lines, [
      `default/worker runs as process ${first}`,
      `reading the events of ${product.url}`,
      'Container main failed liveness probe, restart requested',
      `default/worker runs as process ${second}`,
    ]);
  });

  test('keeps what is ready in a target group, and never takes the last one out', async (t) => {
    const group = await startTargetGroup();
    t.after(group.close);
    const [one, two] = await Promise.all(['127.0.0.2', '127.0.0.3'].map((host) => server(t, host)));
    assert.ok(one && two);
    const lines = subscriber(t, 'drain-target-group', [targetGroupArn, 'group=shop'], {
      AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2: `http://127.0.0.1:${group.port}`,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: serverKeys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: serverKeys.secretAccessKey,
    });
    await reading(lines);
    const calls = (count: number) => until(`${count} calls`, patience, () => group.calls.length >= count);
    await registerServer('one', one, { group: 'shop' });
    await calls(1);
    await registerServer('two', two, { group: 'shop' });
    await calls(2);
    one.isUp = false;
    await calls(3);
    two.isUp = false;
    await until('none is ready', patience, async () => (await readyOf('two')) === 'False');
    one.isUp = true;
    await calls(5);
    two.isUp = true;
    await calls(6);
    assert.deepEqual(group.calls, [
      ['RegisterTargets', '127.0.0.2'],
      ['RegisterTargets', '127.0.0.3'],
      ['DeregisterTargets', '127.0.0.2'],
      ['RegisterTargets', '127.0.0.2'],
      ['DeregisterTargets', '127.0.0.3'],
      ['RegisterTargets', '127.0.0.3'],
    ]);
  });

  test('posts to Slack what stops being ready, and what is ready again', async (t) => {
    const posted: string[] = [];
    const hook = createServer(async (request, response) => {
      posted.push(JSON.parse(await text(request)).text);
      const isFirst = posted.length === 1;
      response.writeHead(isFirst ? 429 : 200, isFirst ? { 'retry-after': '0' } : {}).end();
    });
    const port = await portOf(t, listenWith(hook, '127.0.0.1'));
    const shop = await server(t, '127.0.0.1');
    const SLACK_URL = `http://127.0.0.1:${port}/services/T0/B0/x`;
    await reading(subscriber(t, 'post-to-slack', ['team=shop'], { SLACK_URL }));
    await registerServer('checkout', shop, { team: 'shop' });
    await until('it is ready', patience, async () => (await readyOf('checkout')) === 'True');
    shop.isUp = false;
    await until('it is posted, after a refusal again', patience, () => posted.length >= 2);
    shop.isUp = true;
    await until('the end is posted', patience, () => posted.length >= 3);
    const down = ':red_circle: *default/checkout* is not ready: containers with unready status: [main]';
    assert.deepEqual(posted, [down, down, ':large_green_circle: *default/checkout* is ready again']);
  });

  test('ends with one line and 2 if it is used wrongly', async () => {
    for (const name of ['restart-process', 'drain-target-group', 'post-to-slack']) {
      const child = spawn(process.execPath, [programOf(name)], { env: {}, stdio: ['ignore', 'ignore', 'pipe'] });
      const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      assert.match(said, /^(usage: |set SLACK_URL).+\n$/, name);
      assert.equal(code, 2, name);
    }
  });

  const programOf = (name: string): string =>
    new URL(`../../examples/subscribers/${name}.ts`, import.meta.url).pathname;

  /** Starts it, and collects the lines that it prints. */
  function subscriber(t: TestContext, name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const child = spawn(process.execPath, [programOf(name), ...args], {
      env: { ...process.env, PROBELET_URL: product.url, PROBELET_TOKEN: token, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => endProduct(child));
    const lines: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (printed: string) => lines.push(...printed.trimEnd().split('\n')));
    return lines as readonly string[];
  }

  const reading = (lines: readonly string[]) =>
    until('it reads the events', patience, () => lines.some((line) => line.startsWith('reading')));

  async function register(name: string, spec: object, labels: object = {}): Promise<void> {
    const body = { metadata: { labels }, spec };
    const { status, text: answer } = await askApi(product.url, 'PUT', targetPath(name), body, authorization);
    assert.equal(status, 201, answer);
  }

  const registerServer = (name: string, { host, port }: Served, labels: object) =>
    register(name, { host, readinessProbe: { ...often, httpGet: { path: '/', port } } }, labels);

  type Shown = AnswerBody & {
    readonly status: {
      readonly conditions: readonly { readonly type: string; readonly status: string }[];
      readonly containerStatuses: readonly { readonly restartCount: number }[];
    };
  };
  const statusOf = async (name: string) =>
    (await askApi<Shown>(product.url, 'GET', targetPath(name), undefined, authorization)).body.status;
  const restartsOf = async (name: string) => (await statusOf(name)).containerStatuses[0]?.restartCount;
  const readyOf = async (name: string) =>
    (await statusOf(name)).conditions.find(({ type }) => type === 'Ready')?.status;
});

type Served = { isUp: boolean; readonly host: string; readonly port: number };

/** A target that answers 200, or 503 while it is not up. */
async function server(t: TestContext, host: string): Promise<Served> {
  const http = createServer((_, response) => response.writeHead(served.isUp ? 200 : 503).end());
  const served: Served = { isUp: true, host, port: await portOf(t, listenWith(http, host)) };
  return served;
}

/** undefined: there is no answer. */
const textAt = (url: string): Promise<string | undefined> =>
  fetch(url).then(
    (response) => response.text(),
    () => undefined,
  );
