/**
 * No name from outside is the key of a plain object, which has `constructor` and others without an entry. For the time
 * of each test every object has one such name more, and the inputs have it in each of their places in turn: code that
 * reaches it is named. What no input reaches is not.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { readConfigFile } from '../../functions/local/config/config-file.ts';
import { parseOptions } from '../../functions/local/options/options.ts';
import { alertRules } from '../../shared/alerts/alert-rule.ts';
import { alertRequest } from '../../shared/alerts/formats/formats.ts';
import { eventSchema } from '../../shared/api/routes/events.ts';
import { manifestSchema } from '../../shared/api/schema/manifest-schema.ts';
import { statusReportSchema } from '../../shared/api/schema/status-report.ts';
import { targetViewSchema } from '../../shared/api/schema/target-schema.ts';
import { compilePattern } from '../../shared/bus/pattern.ts';
import { configSchema } from '../../shared/config/config-schema.ts';
import { parseConfig } from '../../shared/config/read-config.ts';
import { convertFile } from '../../shared/manifest/convert.ts';
import { findingsOf } from '../../shared/manifest/findings.ts';
import { alertWorld, sampleNotification, seen, startMs } from '../alerts/alert-world.ts';
import { documentedRoutes, type Route } from '../api/documented-routes.ts';
import { historyOf } from '../api/history-of.ts';
import { registered } from '../api/world.ts';
import { ranCli } from '../functions/cli/run.ts';
import { galleryFormats, namesIn, textOf } from '../manifest/gallery.ts';
import { eachHostile, ordinaryValue } from '../support/hostile-text.ts';
import { lookupsDuring, inheritedName as name } from '../support/inherited-name.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ordinary = 'a';
const documentsOf = (text: string): readonly unknown[] =>
  parseAllDocuments(text, { merge: true }).map((each) => each.toJS({ maxAliasCount: -1 }));
/** The documents of each file together. */
const gallery = galleryFormats.flatMap((format) =>
  namesIn(format, '.yaml')
    .filter((file) => !/^(?:bad|unparsable)-/.test(file))
    .map((file) => documentsOf(textOf(format, file))),
);
const examples = join(import.meta.dirname, '../../examples');
const documents = readdirSync(examples)
  .filter((file) => /\.ya?ml$/.test(file))
  .flatMap((file) => documentsOf(readFileSync(join(examples, file), 'utf8')));

/** A manifest, a configuration and their like, each with the name in one of its places. */
const variantsOf = (...values: readonly unknown[]): readonly unknown[] =>
  values.flatMap((value) => [...eachHostile(value, name)]);

const assertNone = async (act: () => unknown): Promise<void> => assert.deepEqual(await lookupsDuring(act), []);

test('a lookup of a name that is no entry is found, and one that asks for an own entry is not', async () => {
  const values: { readonly [name: string]: unknown } = {};
  const lines = await lookupsDuring(() => Object.hasOwn(values, name) && values[name]);
  assert.deepEqual(lines, []);
  // A line of a test is none of the product.
  assert.deepEqual(await lookupsDuring(() => values[name]), []);
});

test('in files of every format', () =>
  assertNone(() => {
    const converted = (value: unknown, options: { readonly host?: string }) => {
      const text = (value as readonly unknown[]).map((each) => JSON.stringify(each)).join('\n---\n');
      const conversion = convertFile({ name: 'a.yaml', text }, options);
      if (conversion.kind === 'converted') conversion.targets.flatMap(findingsOf);
    };
    for (const value of variantsOf(...gallery)) converted(value, {});
    for (const value of variantsOf([ordinaryValue(manifestSchema)], documents)) converted(value, { host: 'localhost' });
  }));

const url = { env: name };
const config = {
  targets: [{ files: ['a.yaml'], host: 'a', namespace: 'a' }],
  alerts: [
    {
      name: 'a',
      match: { namespaces: ['default'], labels: 'a', pattern: { detail: { target: { name: ['a'] } } } },
      for: '1s',
      groupBy: ['a'],
      silences: [{ match: { names: ['b'], labels: 'a' }, until: '2031-01-31T18:00:00Z', reason: 'a' }],
      notify: ['a'],
    },
  ],
  receivers: [{ name: 'a', slack: { url: 'https://slack.test/a' } }],
};

test('in a configuration, its alerts and what they send', () =>
  assertNone(() => {
    const folder = temporaryFolder();
    for (const value of variantsOf(
      config,
      { ...config, alerts: [{ name: 'a', groupBy: ['a'], notify: ['a'] }] },
      ordinaryValue(configSchema),
    )) {
      const read = parseConfig(JSON.stringify(value));
      if (read.kind === 'invalid') continue;
      const world = alertWorld(alertRules(read.config));
      for (const labels of [{}, { a: 'a' }, { [name]: name }]) world.take(seen(name, 'False', { labels }));
      world.pass(12);
    }
    for (const receiver of [
      { slack: { url } },
      { webhook: { url, secret: url } },
      { pagerduty: { routingKey: url } },
    ]) {
      const file = join(folder, 'config.json');
      writeFileSync(file, JSON.stringify({ alerts: [], receivers: [{ name, ...receiver }] }));
      assert.throws(() => readConfigFile(file), /is empty or not set/);
    }
    const notification = sampleNotification({ alert: name }, { name, message: name, groupLabels: { [name]: name } });
    for (const kind of ['webhook', 'slack', 'teams', 'discord', 'alertmanager'] as const)
      alertRequest(notification, { kind, name, url: 'https://a.test' }, startMs);
  }));

/** The path of a route with the name as each parameter, as an unknown one, and in the place of each of its parts. */
const pathsOf = ({ path, parameters }: Route): readonly string[] => {
  const parts = path.split('/');
  return [
    ...[...parameters, name].map((query) => `${path}?${query}=${name}`),
    ...parts.flatMap((part, index) => (['', 'v1'].includes(part) ? [] : [parts.with(index, name).join('/')])),
  ];
};

test('in paths and parameters of the API', async () => {
  const world = await registered();
  const routes = await documentedRoutes(world);
  await assertNone(async () => {
    for (const route of routes)
      for (const path of pathsOf(route)) await world.ask(route.method, path, route.method === 'GET' ? undefined : {});
  });
});

test('in bodies and headers of the API', async () => {
  const world = await registered();
  const path = '/v1/namespaces/default/targets/checkout';
  const lines = { 'content-type': 'application/x-ndjson' };
  const container = { container: ordinary, probeType: 'readiness', containerID: ordinary };
  await assertNone(async () => {
    for (const body of variantsOf(...documents)) await world.ask('PUT', path, body);
    for (const body of variantsOf(ordinaryValue(manifestSchema))) {
      await world.ask('PUT', path, body);
      await world.ask('PATCH', path, body);
      await world.ask('PUT', '/v1/namespaces/default/targets', { apiVersion: 'v1', kind: 'List', items: [body] });
      await world.ask('PUT', '/v1/targets:apply', `${JSON.stringify(body)}\n`, lines);
    }
    for (const body of variantsOf(ordinaryValue(statusReportSchema))) await world.ask('PUT', `${path}/status`, body);
    for (const body of variantsOf(container))
      for (const route of ['probe', 'restarted']) await world.ask('POST', `${path}/${route}`, body);
    for (const header of ['content-type', 'accept', 'if-match', 'if-none-match', name])
      await world.ask('PUT', path, {}, { [header]: name });
  });
});

test('in the life of a target that has it in every place', () =>
  assertNone(async () => {
    for (const lifecycle of ['static', 'reported'] as const) await historyOf(name, lifecycle);
  }));

test('in patterns and events of the bus', () =>
  assertNone(() => {
    const events = variantsOf({ source: 'a', detail: { target: { name: 'a' }, list: ['a', { b: 'c' }] } });
    const rules = variantsOf({ source: ['a'], detail: { target: { name: [{ prefix: 'a' }, { exists: true }] } } });
    for (const rule of rules) {
      try {
        for (const event of events) compilePattern(rule as never)(event as never);
      } catch {
        // Of no pattern nothing is asked.
      }
    }
  }));

test('in options of npm start', () =>
  assertNone(() => {
    for (const line of [
      [name],
      [`--${name}`],
      [`--${name}=${name}`],
      ['--mode', name],
      ['--secret', `${name}=${name}`],
      ['--host', name],
      ['--port', name],
      ['--canary', `${name}:1`],
    ])
      parseOptions(line);
  }));

/** A server whose answers have the name in one place. */
async function serverOf(answer: () => unknown): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer((request, response) => {
    const { url: path = '', method } = request;
    const value = answer();
    const body = path.includes('/events')
      ? { items: [value] }
      : /targets($|\?)/.test(path) && method === 'GET'
        ? { metadata: {}, items: [value] }
        : value;
    response.writeHead(200, { 'content-type': 'application/json', [name]: name }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

const words: readonly (readonly string[])[] = [
  [name],
  [`--${name}`],
  ['help', name],
  ['get', name],
  ['get', 'targets', name],
  ...[name, `jsonpath={.${name}}`, `custom-columns=A:.${name}`].map((format) => ['get', 'targets', '-o', format]),
  ['get', 'targets', '--sort-by', name],
  ['describe', `target/${name}`],
  ['events', name],
  ['explain', `target.${name}`],
  ['explain', name],
  ['wait', `target/${name}`, `--for=condition=${name}`, '--timeout', '1s'],
  ['simulate', 'S', '--probe', name],
  ['cost', '--probe', name],
  ['lint', '-f', name, '--fail-on', name],
  ['context', 'use', name],
  ['completion', name],
  ['__complete', '--', name, ''],
  ['__complete', '--', 'get', `--${name}`, ''],
];

/** With two probes, so that one is compared with the other. */
function targetAnswer(): unknown {
  const target = ordinaryValue(targetViewSchema) as { readonly status: { readonly probes: readonly unknown[] } };
  const { probes } = target.status;
  return { ...target, status: { ...target.status, probes: [...probes, ...probes] } };
}

test('in words of the command line, and in answers to it', async () => {
  let answer = targetAnswer();
  const { url: server, close } = await serverOf(() => answer);
  const env = { HOME: temporaryFolder(), PROBELET_URL: server };
  const file = join(temporaryFolder(), 'a.yaml');
  writeFileSync(file, 'metadata: { name: a }\nspec: { host: a, readinessProbe: { tcpSocket: { port: 1 } } }\n');
  try {
    await assertNone(async () => {
      for (const line of words) await ranCli(line, { env });
      for (const variant of variantsOf(targetAnswer())) {
        answer = variant;
        for (const line of [
          ['get', 'targets', '-o', 'wide', '--show-labels'],
          ['describe', 'target/a'],
          ['simulate', '--target', 'a'],
        ])
          await ranCli(line, { env });
      }
      for (const variant of variantsOf(ordinaryValue(eventSchema))) {
        answer = variant;
        await ranCli(['apply', '-f', file], { env });
      }
    });
  } finally {
    close();
  }
});
