/** `probelet/client` has a method for each operation of the API: what it sends, what it answers, what is repeated. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startRuntime } from '../../../functions/local/runtime.ts';
import { ClientError, probeletClient, type TargetManifest } from '../../../package/client.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { foreignServer, served } from '../cli/served.ts';

const namespace = 'default';
const named = (name: string) => ({ namespace, name });
const spec = { host: '127.0.0.1', readinessProbe: { tcpSocket: { port: 1 } } };
const reported: TargetManifest['spec'] = { host: '127.0.0.1', lifecycle: 'reported', containers: [{ name: 'app' }] };

const arrived: string[] = [];
const runtime = startRuntime(
  { dataDir: ':memory:' },
  { clock: systemClock, random: systemRandom, log: recordingLog() },
);
await runtime.shard.loaded;
const url = await served((request) => {
  arrived.push(`${request.method} ${new URL(request.url).pathname}`);
  return runtime.fetch(request);
});
const client = probeletClient({ url });
after(async () => {
  await client.close();
  await runtime.stop();
});

const faultOf = (status: number) => (error: unknown) => error instanceof ClientError && error.status === status;

describe('a client', () => {
  test('registers a new target under its name or a generated one', async () => {
    const { metadata } = await client.create(namespace, { metadata: { name: 'new' }, spec });
    assert.equal(metadata.name, 'new');
    const generated = await client.create(namespace, { metadata: { generateName: 'web-' }, spec });
    assert.match(generated.metadata.name, /^web-.{5}$/);
    await assert.rejects(client.create(namespace, { metadata: { name: 'new' }, spec }), faultOf(409));
    await client.create(namespace, { metadata: { name: 'tried' }, spec }, { dryRun: true });
    assert.equal(await client.target(named('tried')), undefined);
  });

  test('registers a target or replaces it, if it is as meant', async () => {
    const first = await client.put(named('put'), { spec });
    const second = await client.put(named('put'), { spec: { ...spec, host: '127.0.0.2' } });
    assert.deepEqual([first.spec.host, second.spec.host, second.metadata.generation], ['127.0.0.1', '127.0.0.2', 2]);
    await assert.rejects(client.put(named('put'), { spec }, { mustBeNew: true }), faultOf(412));
    const { resourceVersion } = first.metadata;
    await assert.rejects(client.put(named('put'), { spec }, { resourceVersion }), faultOf(412));
    const current = { resourceVersion: second.metadata.resourceVersion };
    assert.equal((await client.put(named('put'), { spec }, current)).metadata.generation, 3);
  });

  test('changes a part of a target by a merge patch', async () => {
    await client.put(named('patched'), { metadata: { labels: { a: '1', b: '2' } }, spec });
    const patched = await client.patch(named('patched'), { metadata: { labels: { a: null, c: '3' } } });
    assert.deepEqual(patched?.metadata.labels, { b: '2', c: '3' });
    assert.equal(await client.patch(named('none'), {}), undefined);
  });

  test('reports the state of containers', async () => {
    await client.put(named('task'), { spec: reported });
    const running = { startedAt: new Date().toISOString() };
    const status = { containerStatuses: [{ name: 'app', containerID: 'c://1', state: { running } }] };
    assert.equal((await client.report(named('task'), { status }))?.metadata.name, 'task');
    assert.equal(await client.report(named('none'), { status }), undefined);
  });

  test('keeps only the targets that it names', async () => {
    for (const name of ['a', 'b', 'c']) await client.put({ namespace: 'set', name }, { spec });
    const dry = await client.keepOnly({ namespace: 'set', names: ['b'], dryRun: true });
    assert.deepEqual([dry.kept, dry.removed.toSorted()], [['b'], ['a', 'c']]);
    assert.deepEqual((await client.keepOnly({ namespace: 'set', names: ['b', 'c'] })).removed, ['a']);
    const again = await client.keepOnly({ namespace: 'set', names: ['b'] });
    assert.deepEqual([again.kept, again.removed], [['b'], ['c']]);
  });

  test('goes on where the server stopped for time', async () => {
    const seen: (string | undefined)[] = [];
    const parts = [{ kept: ['a'], continue: 'next+1' }, { removed: ['b'] }];
    const elsewhere = await foreignServer((request, response) => {
      const part = { kept: [], removed: [], terminating: [], ...parts[seen.length] };
      seen.push(new URL(request.url ?? '', 'http://a').searchParams.get('continue') ?? undefined);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(part));
    });
    const slow = probeletClient({ url: elsewhere });
    const cleaned = await slow.keepOnly({ namespace, names: ['a'] }).finally(() => slow.close());
    assert.deepEqual([cleaned, seen], [{ kept: ['a'], removed: ['b'], terminating: [] }, [undefined, 'next+1']]);
  });

  test('repeats only what is idempotent', async () => {
    const asked: string[] = [];
    const elsewhere = await foreignServer((request, response) => {
      asked.push(request.method ?? '');
      response.writeHead(503).end();
    });
    const broken = probeletClient({ url: elsewhere });
    const fails = (promise: Promise<unknown>) => assert.rejects(promise, ClientError);
    await fails(broken.create(namespace, { metadata: { name: 'a' }, spec }));
    await fails(broken.patch(named('a'), {}));
    await fails(broken.restarted(named('a')));
    await fails(broken.probe(named('a')));
    assert.deepEqual(asked.splice(0), ['POST', 'PATCH', 'POST', 'POST']);
    await fails(broken.put(named('a'), { spec }));
    await fails(broken.remove(named('a')));
    await fails(broken.target(named('a')));
    assert.deepEqual(asked, ['PUT', 'PUT', 'PUT', 'DELETE', 'DELETE', 'DELETE', 'GET', 'GET', 'GET']);
    await broken.close();
  });

  test('has a method for each operation of /openapi.json', async () => {
    await client.apply({ namespace, manifests: [{ metadata: { name: 'applied' }, spec }], dryRun: false });
    for await (const target of client.targets()) assert.ok(target.metadata.name);
    for await (const target of client.targets({ namespace })) assert.equal(target.metadata.namespace, namespace);
    assert.ok((await client.events(named('new'), 10))?.length !== undefined);
    assert.ok(await client.probe(named('new')));
    await client.restarted(named('new'));
    assert.match(await client.metrics(), /^# HELP /m);
    assert.equal((await client.health()).status, 'ok');
    await client.version();
    for await (const seen of client.watch({})) {
      assert.equal(seen.kind, 'list');
      break;
    }
    assert.equal(await client.remove(named('new')), true);
    const { paths } = (await (await runtime.fetch(new Request('http://a/openapi.json'))).json()) as {
      readonly paths: { readonly [path: string]: { readonly [method: string]: object } };
    };
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const isSent = (operation: string): boolean => {
      const pattern = new RegExp(`^${operation.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      return arrived.some((request) => pattern.test(request));
    };
    assert.ok(operations.length > 12, `${operations.length} operations`);
    assert.deepEqual(
      operations.filter((operation) => !isSent(operation)),
      [],
    );
  });
});
