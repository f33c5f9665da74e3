/** The client has a method for each operation of the API, with each parameter of it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startRuntime } from '../../../functions/local/process/runtime.ts';
import { type ApiClient, type ApiDescription, ClientError, probeletClient } from '../../../package/client.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { foreignServer, served } from '../cli/served.ts';

const namespace = 'default';
const web = { namespace, name: 'web' };
const task = { namespace, name: 'task' };
const none = { namespace, name: 'none' };
const readinessProbe = { tcpSocket: { port: 'ftp' } };
const manifest = { spec: { host: '127.0.0.1', readinessProbe } };
const reported = { spec: { host: 'a', lifecycle: 'reported' as const, containers: [{ name: 'app' }] } };
const report = { status: { containerStatuses: [{ name: 'app', containerID: 'ecs://1', ready: true }] } };

/** Calls every method with every option, and holds what it answers against what was done. */
async function callEverything(client: ApiClient): Promise<void> {
  await client.prober();
  assert.equal((await client.register(web, manifest, { dryRun: true, onlyNew: true })).created, true);
  assert.equal(await client.target(web), undefined);
  const { target, created, warning } = await client.register(web, manifest);
  assert.equal(created, true);
  assert.match(warning ?? '', /^\/spec\/containers\/0\/readinessProbe cannot run: .*ftp/);
  const { resourceVersion } = target.metadata;
  const again = await client.register(web, target, { resourceVersion });
  assert.deepEqual([again.created, again.target.metadata.resourceVersion], [false, resourceVersion]);
  await refuses(412, client.register(web, manifest, { onlyNew: true }));

  const patched = await client.patch(web, { metadata: { labels: { a: 'b' } } }, { resourceVersion });
  assert.deepEqual(patched?.target.metadata.labels, { a: 'b' });
  await refuses(412, client.patch(web, { metadata: { labels: null } }, { resourceVersion, dryRun: true }));
  assert.equal(await client.patch(none, {}), undefined);

  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'job-' }, spec: { nodeName: 'n' } } as const;
  await refuses(422, client.create({ namespace, manifest: pod, dryRun: true }));
  const job = await client.create({ namespace, manifest: { metadata: { generateName: 'job-' }, ...manifest } });
  assert.match(job.target.metadata.name, /^job-.{5}$/);
  await refuses(409, client.create({ namespace, manifest: { metadata: { name: 'web' }, ...manifest } }));

  await client.apply({ namespace, manifests: [{ metadata: { name: 'task' }, ...reported }], dryRun: false });
  await client.apply({ namespace, manifests: [{ metadata: { name: 'task' }, ...reported }], dryRun: true });
  const line = { metadata: { namespace, name: 'line' }, ...reported };
  for (const dryRun of [true, false])
    assert.deepEqual(
      (await client.applyLines({ manifests: [line, {}], dryRun }))?.map(({ status }) => status),
      [201, 422],
    );
  assert.ok(await client.remove({ namespace, name: 'line' }, { gracePeriodSeconds: 0 }));
  assert.equal((await client.reportStatus(task, report, { dryRun: true }))?.created, false);
  assert.equal((await client.reportStatus(task, report))?.target.metadata.name, 'task');
  assert.equal(await client.reportStatus(none, report), undefined);
  await refuses(409, client.reportStatus(web, report));

  const probes = [{ container: 'main', probeType: 'readiness' }];
  const selected = { container: 'main', probeType: 'readiness', dryRun: true } as const;
  for (const selection of [undefined, selected]) assert.deepEqual((await client.probe(web, selection))?.probes, probes);
  assert.equal((await client.restarted(web, { container: 'main', dryRun: true }))?.metadata.name, 'web');
  assert.ok(Array.isArray(await client.events(web, 5)));

  assert.deepEqual(await namesOf(client, { fieldSelector: 'spec.lifecycle=reported', sortBy: 'lastChange' }), ['task']);
  assert.deepEqual(
    await namesOf(client, { namespace, labelSelector: 'a=b', fieldSelector: 'spec.host!=x', sortBy: 'name' }),
    ['web'],
  );
  assert.deepEqual(await namesOf(client, { namespace, ready: 'false', labelSelector: 'a in (c)' }), []);
  assert.deepEqual(await namesOf(client, { ready: 'false', labelSelector: 'a in (c)' }), []);

  for await (const { kind } of client.watch({ ...web, labelSelector: 'a=b' })) {
    assert.equal(kind, 'list');
    break;
  }
  assert.equal((await client.version()).api, '1');
  assert.match((await client.metrics()) ?? '', /^# HELP /m);

  const wanted = { namespace, names: ['web', 'absent'] };
  const removed = [job.target.metadata.name, 'task'];
  const cleaned = { kept: ['web'], removed, terminating: [] };
  assert.deepEqual(sorted(await client.desired({ ...wanted, dryRun: true })), cleaned);
  assert.deepEqual(sorted(await client.desired(wanted)), cleaned);
  await refuses(412, client.remove(web, { resourceVersion: '0', dryRun: true }));
  const gone = await client.remove(web, { gracePeriodSeconds: 0 });
  assert.deepEqual([gone?.target.metadata.name, gone?.created], ['web', false]);
}

async function refuses(status: number, asked: Promise<unknown>): Promise<void> {
  await assert.rejects(asked, (error) => error instanceof ClientError && error.status === status);
}

async function namesOf(client: ApiClient, query: Parameters<ApiClient['targets']>[0]): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { metadata } of client.targets(query)) names.push(metadata.name);
  return names;
}

const sorted = ({ kept, removed, terminating }: Awaited<ReturnType<ApiClient['desired']>>) => ({
  kept,
  removed: removed.toSorted(),
  terminating,
});

type Described = {
  readonly [path: string]: {
    readonly [method: string]: { readonly parameters?: readonly { readonly in: string; readonly name: string }[] };
  };
};

/** Each operation, and each of its parameters: `GET /v1/watch`, `GET /v1/watch query name`. */
function describedBy({ paths }: ApiDescription): readonly { readonly path: RegExp; readonly text: string }[] {
  return Object.entries(paths as Described).flatMap(([path, methods]) => {
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    return Object.entries(methods).flatMap(([method, { parameters = [] }]) => {
      const operation = `${method.toUpperCase()} ${path}`;
      const given = parameters.filter((each) => each.in !== 'path');
      const texts = given.map((each) => `${operation} ${each.in} ${each.name.toLowerCase()}`);
      return [operation, ...texts].map((text) => ({ path: pattern, text }));
    });
  });
}

/** Which of them this request is. */
function textsOf(request: Request, path: string): readonly string[] {
  const { searchParams } = new URL(request.url);
  const operation = `${request.method} ${path}`;
  return [
    operation,
    ...[...searchParams.keys()].map((name) => `${operation} query ${name.toLowerCase()}`),
    ...[...request.headers.keys()].map((name) => `${operation} header ${name}`),
  ];
}

/** What the client decides itself, or says otherwise. */
const own: ReadonlySet<string> = new Set([
  // A namespace has a path of its own.
  'GET /v1/targets query namespace',
  // Pages are read one after the other.
  'GET /v1/targets query continue',
  'GET /v1/namespaces/{namespace}/targets query continue',
  'PUT /v1/namespaces/{namespace}/desired query continue',
  // A watch reconnects by itself.
  'GET /v1/watch query timeoutseconds',
  'GET /v1/watch header last-event-id',
]);

test('every operation of the API, and every parameter of it, has a method that sends it', async (t) => {
  const ports = { clock: systemClock, random: systemRandom, log: recordingLog() };
  const runtime = startRuntime({ dataDir: ':memory:' }, ports);
  t.after(() => runtime.stop());
  await runtime.shard.loaded;
  const arrived: Request[] = [];
  const url = await served((request) => {
    arrived.push(request);
    return runtime.fetch(request);
  });
  const client = probeletClient({ url });
  t.after(() => client.close());
  await callEverything(client);

  const described = describedBy(await client.openapi());
  const isSent = (text: string, path: RegExp) =>
    arrived.some(
      (request) =>
        path.test(new URL(request.url).pathname) && textsOf(request, text.split(' ')[1] ?? '').includes(text),
    );
  const missing = described.filter(({ text, path }) => !own.has(text) && !isSent(text, path));
  assert.deepEqual(
    missing.map(({ text }) => text),
    [],
  );
  const texts = described.map(({ text }) => text);
  assert.ok(texts.length >= 50, `only ${texts.length} operations and parameters are described`);
  assert.deepEqual(
    [...own].filter((text) => !texts.includes(text)),
    [],
    'exceptions that no longer are any',
  );
});

test('a desired set that takes several requests is one call', async (t) => {
  const tokens: (string | null)[] = [];
  const url = await foreignServer((request, response) => {
    const token = new URL(request.url ?? '', 'http://a').searchParams.get('continue');
    tokens.push(token);
    const body = {
      kept: [`k${tokens.length}`],
      removed: [],
      terminating: [],
      ...(token === null && { continue: 't' }),
    };
    response.writeHead(token === null ? 202 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const client = probeletClient({ url });
  t.after(() => client.close());
  assert.deepEqual((await client.desired({ namespace, names: [] })).kept, ['k1', 'k2']);
  assert.deepEqual(tokens, [null, 't']);
});

test('only a request that is idempotent by HTTP is sent again when its answer is lost', async (t) => {
  const attempts: string[] = [];
  const url = await foreignServer((request) => {
    attempts.push(request.method ?? '');
    request.socket.destroy();
  });
  const client = probeletClient({ url });
  t.after(() => client.close());
  const calls = [
    () => client.target(web),
    () => client.register(web, manifest),
    () => client.reportStatus(web, report),
    () => client.desired({ namespace, names: [] }),
    () => client.remove(web),
    () => client.patch(web, {}),
    () => client.create({ namespace, manifest: { metadata: { name: 'web' }, ...manifest } }),
    () => client.probe(web),
    () => client.restarted(web),
  ];
  for (const call of calls) await assert.rejects(call(), ClientError);
  const three = ['GET', 'PUT', 'PUT', 'PUT', 'DELETE'].flatMap((method) => [method, method, method]);
  assert.deepEqual(attempts, [...three, 'PATCH', 'POST', 'POST', 'POST']);
});

describe('lines', () => {
  const absent = {
    'a process of an older release': [
      405,
      'application/problem+json',
      '{"type":"urn:probelet:problem:x","detail":"x"}',
    ],
    'a deployment of an older release': [404, 'application/json', '{"message":"Not Found"}'],
    'a policy that does not name the route': [403, 'application/json', '{"message":"Forbidden"}'],
  } as const;
  for (const [what, [status, type, body]] of Object.entries(absent))
    test(`${what} has no route for them`, async (t) => {
      const url = await foreignServer((_, response) => response.writeHead(status, { 'content-type': type }).end(body));
      const client = probeletClient({ url });
      t.after(() => client.close());
      assert.equal(await client.applyLines({ manifests: [{}] }), undefined);
    });

  const foreign = {
    'a page of a proxy': [404, 'text/html', '<html>'],
    'an answer to fewer lines': [200, 'application/x-ndjson', ''],
    'an answer to another line': [200, 'application/x-ndjson', '{"line":2,"status":200}\n'],
    'an answer that is no JSON': [200, 'application/x-ndjson', 'OK\n'],
  } as const;
  for (const [what, [status, type, body]] of Object.entries(foreign))
    test(`${what} is not the API's`, async (t) => {
      const url = await foreignServer((_, response) => response.writeHead(status, { 'content-type': type }).end(body));
      const client = probeletClient({ url });
      t.after(() => client.close());
      await assert.rejects(client.applyLines({ manifests: [{}] }), { fault: 'foreign' });
    });
});

test('the metrics of an API that has none are undefined', async (t) => {
  const url = await foreignServer((_, response) =>
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"Not Found"}'),
  );
  const client = probeletClient({ url });
  t.after(() => client.close());
  assert.equal(await client.metrics(), undefined);
});
