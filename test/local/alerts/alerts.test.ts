/**
 * Alerts of `npm start -- --config` with real targets and receivers. Their clock runs 20 times faster than that of
 * probes, so that windows, reminders and time-outs pass in moments.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { parseOptions } from '../../../functions/local/options/options.ts';
import { register } from '../../support/api-client.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { alertingRuntime, listening } from './alerting-runtime.ts';

const secretBytes = Buffer.alloc(32, 9);

type Arrived = {
  readonly path: string;
  readonly id: string;
  readonly kind: string;
  readonly names: readonly string[];
  readonly atMs: number;
  readonly isSigned: boolean;
};

/**
 * Whether one of the first tries came as late as Retry-After asked. On a busy machine an answer may come too late for
 * the sender. Without Retry-After these tries are 4 s apart at most.
 */
const hasWaited = (tries: readonly Arrived[]): boolean =>
  tries.slice(1, 4).some(({ atMs }, index) => atMs - (tries[index]?.atMs ?? 0) >= 8_000);

/** A receiver whose paths behave differently. */
async function receiver(t: TestContext) {
  const arrived: Arrived[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { type, data } = JSON.parse(body);
    const path = request.url ?? '';
    const id = String(request.headers['webhook-id']);
    const content = `${id}.${request.headers['webhook-timestamp']}.${body}`;
    const signature = `v1,${createHmac('sha256', secretBytes).update(content).digest('base64')}`;
    const names: readonly string[] = data.incidents.map(({ name }: { readonly name: string }) => name).toSorted();
    const isSigned = request.headers['webhook-signature'] === signature;
    arrived.push({ path, id, kind: type.split('.').at(-1), names, atMs: fastClock.nowMs(), isSigned });
    const tries = arrived.filter((each) => each.path === path && each.id === id);
    const isFirst = tries.length === 1;
    if (path === '/hangs' && isFirst) return;
    if (path === '/fails' && isFirst) response.writeHead(500);
    if (path === '/limits' && !hasWaited(tries)) response.writeHead(429, { 'retry-after': '8' });
    response.end();
  });
  const url = `http://127.0.0.1:${await listening(t, server)}`;
  const at = (path: string, kind: string) => arrived.filter((each) => each.path === path && each.kind === kind);
  return { url, at };
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!isSo()) {
    assert.ok(performance.now() < endMs, `not within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function alertsFile(t: TestContext, url: string): string {
  const folder = temporaryFolder(t);
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, `whsec_${secretBytes.toString('base64')}\n`);
  const names = ['works', 'hangs', 'fails', 'limits'];
  const receivers = names.map((name) => {
    return `  - { name: ${name}, webhook: { url: "${url}/${name}", secret: { file: "${secretFile}" } } }`;
  });
  const silence = '{ match: { names: [silenced] }, until: 2999-01-01T00:00:00Z, reason: not finished }';
  const alert = `{ name: down, remind: 20s, silences: [${silence}], notify: [${names}] }`;
  const path = join(folder, 'alerts.yaml');
  writeFileSync(path, `alerts:\n  - ${alert}\nreceivers:\n${receivers.join('\n')}\n`);
  return path;
}

test('alerts arrive, are grouped, repeated and ended, whatever a receiver does', async (t) => {
  let isUp = false;
  const port = await listening(
    t,
    createServer((_, response) => response.writeHead(isUp ? 200 : 503).end()),
  );
  const { url, at } = await receiver(t);
  const dataDir = temporaryFolder(t);
  const { runtime, stop } = await alertingRuntime(t, dataDir, alertsFile(t, url));
  const probe = { httpGet: { path: '/', port }, periodSeconds: 1, failureThreshold: 1 };
  const spec = { host: '127.0.0.1', readinessProbe: probe };
  await Promise.all(['one', 'two', 'silenced'].map((name) => register(runtime, name, spec)));
  const everywhere = ['/works', '/hangs', '/fails', '/limits'];

  await until(() => everywhere.every((path) => at(path, 'firing').length > 0), 'every receiver is notified');
  const reported = () => new Set(at('/works', 'firing').flatMap(({ names }) => names));
  await until(() => reported().size === 2, 'both targets are reported, in one notification or two');
  await until(() => at('/works', 'reminder').length > 0, 'a reminder');
  for (const path of ['/hangs', '/fails', '/limits'])
    await until(() => at(path, 'firing').length >= 2, `${path} gets it again`);
  const [limited] = at('/limits', 'firing');
  const tries = () => at('/limits', 'firing').filter(({ id }) => id === limited?.id);
  await until(() => hasWaited(tries()), 'Retry-After is respected');
  assert.deepEqual([...reported()].toSorted(), ['one', 'two']);

  isUp = true;
  const ended = (path: string) => new Set(at(path, 'resolved').flatMap(({ names }) => names));
  await until(() => everywhere.every((path) => ended(path).size === 2), 'every receiver learns of the end');
  assert.deepEqual([...ended('/works')].toSorted(), ['one', 'two'], 'nothing of the silenced one');
  assert.ok(everywhere.every((path) => at(path, 'firing').every(({ isSigned }) => isSigned)));
  assert.equal(new Set(at('/works', 'firing').map(({ id }) => id)).size, at('/works', 'firing').length, 'once each');
  await stop();
  const kept = JSON.parse(readFileSync(join(dataDir, 'alerts.json'), 'utf8'));
  assert.deepEqual([kept.version, typeof kept.state, typeof kept.outbox], [1, 'object', 'object']);
});

describe('receivers of --config', () => {
  const optionsOf = (t: TestContext, text: string, name = 'alerts.yaml') => {
    const path = join(temporaryFolder(t), name);
    writeFileSync(path, text);
    const parsed = parseOptions(['--config', path]);
    return parsed.kind === 'invalid' ? parsed.message.replaceAll(path, 'FILE') : parsed.kind;
  };
  const withReceiver = (receiverText: string) =>
    `alerts:\n  - { name: down, notify: [r] }\nreceivers:\n  - { name: r, ${receiverText} }\n`;

  test('names a mistake in the file with its place', (t) => {
    const message = optionsOf(t, withReceiver('slack: { uri: "https://slack.test" }'));
    assert.match(message, /^--config: FILE:4:\d+: receivers\[0\]\.slack/);
  });
  test('names a missing variable, and never shows a value', (t) => {
    assert.equal(
      optionsOf(t, withReceiver('slack: { url: { env: PROBELET_TEST_NO_SUCH_VARIABLE } }')),
      '--config: FILE:4:5: receivers[0].slack.url: the variable PROBELET_TEST_NO_SUCH_VARIABLE is empty or not set',
    );
    for (const name of ['constructor', 'toString', '__proto__'])
      assert.equal(
        optionsOf(t, withReceiver(`slack: { url: { env: ${name} } }`)),
        `--config: FILE:4:5: receivers[0].slack.url: the variable ${name} is empty or not set`,
      );
    const message = optionsOf(t, withReceiver('webhook: { url: "https://hooks.test", secret: { env: PATH } }'));
    assert.match(message, /webhook\.secret: the variable PATH holds no whsec_/);
    assert.ok(!message.includes(process.env.PATH ?? '-'));
  });
  test('is accepted with every kind of receiver', (t) => {
    const kinds = ['slack', 'teams', 'discord', 'alertmanager'];
    for (const kind of kinds) assert.equal(optionsOf(t, withReceiver(`${kind}: { url: "https://r.test" }`)), 'alone');
    assert.equal(optionsOf(t, withReceiver('pagerduty: { routingKey: { env: PATH } }')), 'alone');
    assert.equal(optionsOf(t, withReceiver('opsgenie: { apiKey: { env: PATH } }')), 'alone');
  });
  test('is of a single process alone', () => {
    const parsed = parseOptions(['--control', '--config', 'x', '--table', 'probelet']);
    assert.equal(parsed.kind === 'invalid' && parsed.message, '--config: not with --control');
  });
});
