/** The commands about single targets: describe, delete, wait, probe and version, with what they print and exit with. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { servedWorld } from './served.ts';

const { world, run } = await servedWorld();
const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
const targets = '/v1/namespaces/default/targets';

before(async () => {
  const spec = { host: '10.0.0.1', readinessProbe: { tcpSocket: { port: 80 } } };
  for (const name of ['web', 'a', 'b'])
    await world.expect(201, 'PUT', `${targets}/${name}`, { metadata: { labels: { of: name } }, spec });
  await world.expect(201, 'PUT', `${targets}/still`, { spec: { host: '10.0.0.1', containers: [{ name: 'app' }] } });
  await world.bus.settled();
  world.advance(30_000);
});

test('describe prints conditions, containers, probes and events', async () => {
  const { code, out } = await run(['describe', 'target', 'web']);
  assert.equal(code, 0);
  assert.equal(
    out.replaceAll(/probelet:\/\/[\w-]+/g, 'probelet://UID'),
    `Name:          web
Namespace:     default
Labels:        of=web
Annotations:   <none>
Host:          10.0.0.1
Lifecycle:     static
Created:       2026-01-01T12:00:00.000Z
Status:        Unknown
Containers:
  main:
    Container ID:     probelet://UID/main/0
    State:            Running
      Started:        2026-01-01T12:00:00Z
    Ready:            False
    Started:          True
    Restart Count:    0
    Readiness:        tcp-socket :80 delay=0s timeout=1s period=10s #success=1 #failure=3
Conditions:
  TYPE              STATUS    SINCE   REASON         MESSAGE
  Initialized       True      30s
  ContainersReady   Unknown   30s     NotYetProbed   probes with unknown result: [main#readiness]
  Ready             Unknown   30s     NotYetProbed   probes with unknown result: [main#readiness]
Probes:
  CONTAINER   TYPE        RESULT    REASON         SINCE   LAST     OUTPUT
  main        readiness   unknown   NotYetProbed   30s     <none>
Events: <none>
`,
  );
  const absent = await run(['describe', 'target/nope']);
  assert.deepEqual([absent.code, absent.err], [4, ['error: there is no target nope in namespace default']]);
});

test('describe shows what each probe asks, as kubectl does', async () => {
  const times = { initialDelaySeconds: 3, timeoutSeconds: 2, periodSeconds: 7, failureThreshold: 4 };
  const shown = 'delay=3s timeout=2s period=7s #success=1 #failure=4';
  // k8s.io/kubectl v0.36.3, pkg/describe: DescribeProbe.
  const handlers = [
    [{ exec: { command: ['cat', '/tmp/healthy'] } }, 'exec [cat /tmp/healthy]'],
    [{ httpGet: { port: 8080, path: '/health' } }, 'http-get http://:8080/health'],
    [{ httpGet: { port: 'web', scheme: 'HTTPS', host: 'a.test' } }, 'http-get https://a.test:web/'],
    [{ httpGet: { port: 80, host: '::1', path: '/a?b=c' } }, 'http-get http://[::1]:80/a?b=c'],
    [{ tcpSocket: { port: 5432 } }, 'tcp-socket :5432'],
    [{ grpc: { port: 9090 } }, 'grpc :9090'],
    [{ grpc: { port: 9090, service: 'shop.Cart' } }, 'grpc :9090 shop.Cart'],
  ] as const;
  const containers = handlers.map(([handler], index) => ({
    name: `c${index}`,
    livenessProbe: { ...handler, ...times },
  }));
  await world.expect(201, 'PUT', `${targets}/kinds`, { spec: { host: '10.0.0.1', containers } });
  const { out } = await run(['describe', 'target', 'kinds']);
  assert.deepEqual(
    Array.from(out.matchAll(/^ {4}Liveness: +(.*)$/gm), ([, text]) => text),
    handlers.map(([, text]) => `${text} ${shown}`),
  );
  const { out: wide } = await run(['get', 'target', 'kinds', '-o', 'wide']);
  assert.match(wide, / 8080\/http,web\/https,80\/http,5432\/tcp,9090\/grpc /);
});

test('describe shows how containers ended, and sidecars apart', async () => {
  const spec = {
    host: '10.0.0.1',
    lifecycle: 'reported',
    initContainers: [{ name: 'proxy', restartPolicy: 'Always' }],
  };
  await world.expect(201, 'PUT', `${targets}/ended`, { spec: { ...spec, containers: [{ name: 'app' }] } });
  const terminated = { exitCode: 137, reason: 'OOMKilled', finishedAt: '2026-01-01T12:00:00Z' };
  const lastState = { terminated };
  const app = { name: 'app', state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState, restartCount: 4 };
  const proxy = { name: 'proxy', containerID: 'c://1', state: { running: { startedAt: '2026-01-01T12:00:00Z' } } };
  const statuses = { initContainerStatuses: [{ ...proxy, restartCount: 0 }], containerStatuses: [app] };
  await world.expect(200, 'PUT', `${targets}/ended/status`, { status: statuses });
  const { out } = await run(['describe', 'target/ended']);
  assert.match(out, /\nStatus: +CrashLoopBackOff\nInit Containers:\n {2}proxy:\n(?: {4}.*\n)+Containers:\n {2}app:\n/);
  assert.match(
    out,
    / {4}State: +Waiting\n {6}Reason: +CrashLoopBackOff\n {4}Last State: +Terminated\n {6}Reason: +OOMKilled\n {6}Exit Code: +137\n {6}Finished: +2026/,
  );
  assert.match(out, / {4}Restart Count: +4\n/);
});

test('delete begins the termination of named and of selected targets', async () => {
  assert.equal((await run(['delete', 'target', 'a', '--dry-run'])).out, 'target/a deleted (dry run)\n');
  const named = await run(['delete', 'target/a', 'nope', '--wait=false']);
  assert.deepEqual(named, {
    code: 4,
    out: 'target/a deleted\n',
    err: ['error: there is no target nope in namespace default'],
  });
  assert.equal((await run(['delete', 'target', '-l', 'of in (b,c)', '--no-wait'])).out, 'target/b deleted\n');
  assert.match((await run(['get', 'targets'])).out, /\na .* Terminating .*\nb .* Terminating /);
  for (const args of [['target'], ['target', 'a', '-l', 'of=a'], ['probe', 'a'], []])
    assert.equal((await run(['delete', ...args])).code, 2);
});

test('delete takes the targets of files, wherever they are and whatever else is in the files', async (t) => {
  const folder = temporaryFolder(t);
  const pod =
    'apiVersion: v1\nkind: Pod\nmetadata: { name: pod }\nspec: { containers: [{ name: a, livenessProbe: { tcpSocket: { port: 1 } } }] }';
  writeFileSync(
    join(folder, 'a.yaml'),
    `metadata: { name: c, namespace: shop }\nspec: { livenessProbe: { tcpSocket: { port: 1 } } }\n---\n${pod}\n`,
  );
  const spec = { host: '10.0.0.1', containers: [{ name: 'app' }] };
  await world.expect(201, 'PUT', '/v1/namespaces/shop/targets/c', { spec });
  assert.deepEqual(await run(['delete', '-f', folder, '--wait=false']), {
    code: 4,
    out: 'target/c deleted\n',
    err: ['error: there is no target pod in namespace default'],
  });
  assert.equal((await run(['delete', '-f', folder, '--ignore-not-found', '--wait=false'])).code, 0);
  await world.expect(201, 'PUT', `${targets}/pod`, { spec });
  writeFileSync(join(folder, 'b.yaml'), '!');
  const { code, out, err } = await run(['delete', '-f', folder, '--dry-run']);
  assert.deepEqual([code, out], [1, 'target/c deleted (dry run)\ntarget/pod deleted (dry run)\n']);
  assert.match(err[0] ?? '', /b\.yaml:1:2: /);
  for (const args of [['target/pod'], ['-l', 'a=b']])
    assert.equal((await run(['delete', '-f', folder, ...args])).code, 2);
  assert.equal((await run(['delete', 'target/pod', '--wait=false'])).code, 0);
});

describe('wait', () => {
  test('ends when the condition is met', async () => {
    for (const what of ['condition=Initialized', 'condition=ready=unknown'])
      assert.deepEqual(await run(['wait', 'target/web', `--for=${what}`]), {
        code: 0,
        out: 'target/web condition met\n',
        err: [],
      });
  });

  test('says what is the case if that is not in time', async () => {
    assert.deepEqual(await run(['wait', 'target', 'web', '--for', 'condition=Ready', '--timeout', '2s']), {
      code: 3,
      out: '',
      err: [
        'error: target/web: Ready is Unknown at the end of --timeout (NotYetProbed: probes with unknown result: [main#readiness])',
      ],
    });
    assert.deepEqual((await run(['wait', 'target/web', '--for=delete', '--timeout', '1s'])).err, [
      'error: target/web is still there at the end of --timeout',
    ]);
  });

  test('for the deletion of what is not there claims none, and names a namespace that is likely wrong', async () => {
    assert.deepEqual(await run(['wait', 'target/none', '--for=delete']), {
      code: 0,
      out: '',
      err: ['There is no target none in namespace default: nothing to wait for.'],
    });
    const { out, err } = await run(['wait', 'target/web', '--for=deleted', '-n=defualt']);
    assert.equal(out, '');
    assert.deepEqual(err, [
      'There is no target web in namespace defualt: nothing to wait for. The namespace has no targets; name another by --namespace.',
    ]);
    assert.equal((await run(['wait', 'target/none', '--for=condition=Ready'])).code, 4);
  });

  test('says how it is used', async () => {
    for (const args of [['target/web'], ['target/web', '--for=ready'], ['target', '--for=delete']])
      assert.equal((await run(['wait', ...args])).code, 2);
  });
});

describe('delete and apply', () => {
  test('delete says how long a target stays that does not end', async () => {
    await world.expect(201, 'PUT', `${targets}/stays`, { spec: { host: '10.0.0.1', containers: [{ name: 'app' }] } });
    const { code, out, err } = await run(['delete', 'target/stays', '--timeout', '2s']);
    assert.deepEqual([code, out], [3, 'target/stays deleted\n']);
    assert.deepEqual(err, [
      'error: target/stays is still there: it ends by itself; --now ends it at once, and --wait=false does not wait',
    ]);
  });

  test('apply says how a target that terminates is got rid of', async (t) => {
    const file = join(temporaryFolder(t), 'stays.yaml');
    writeFileSync(file, 'metadata: { name: stays }\nspec: { host: h, livenessProbe: { tcpSocket: { port: 1 } } }\n');
    const { code, err } = await run(['apply', '-f', file]);
    assert.equal(code, 1);
    assert.match(
      err.join('\n'),
      /terminating; its name is free again when it is gone\. Wait for that with 'probelet wait target\/stays --for=delete', or end it now with 'probelet delete target\/stays --now'\.$/,
    );
  });

  test('delete shortens the grace period', async () => {
    for (const [index, [option, seconds]] of [
      ['--now', 1],
      ['--force', 0],
      ['--grace-period=7', 7],
    ].entries()) {
      await world.expect(201, 'PUT', `${targets}/short${index}`, {
        spec: { host: '10.0.0.1', containers: [{ name: 'a' }] },
      });
      await run(['delete', `target/short${index}`, `${option}`, '--wait=false']);
      const { body } = await world.ask('GET', `${targets}/short${index}`);
      assert.equal(body.metadata?.deletionGracePeriodSeconds ?? 0, seconds, `${option}`);
    }
    for (const args of [
      ['--now', '--force'],
      ['--now', '--grace-period=3'],
      ['--force', '--grace-period=3'],
      ['--grace-period=-2'],
    ])
      assert.equal((await run(['delete', 'target/web', ...args])).code, 2, args.join(' '));
  });
});

describe('diff', () => {
  test('prints what apply would change, and says so by its exit code', async (t) => {
    const file = join(temporaryFolder(t), 'new.yaml');
    writeFileSync(file, 'metadata: { name: new }\nspec: { host: h, livenessProbe: { tcpSocket: { port: 1 } } }\n');
    const { code, out, err } = await run(['diff', '-f', file]);
    assert.deepEqual([code, err], [1, []]);
    assert.match(out, /^--- \/dev\/null\n\+\+\+ target\/new \(namespace default\)\n@@ /);
    assert.equal((await run(['apply', '-f', file])).out, 'target/new created\n');
    assert.deepEqual(await run(['diff', '-f', file]), { code: 0, out: '', err: [] });
    writeFileSync(file, '!');
    assert.equal((await run(['diff', '-f', file])).code, 5);
    assert.equal((await run(['diff', '-f', file, '--server', 'http://127.0.0.1:1'])).code, 5);
    assert.equal((await run(['diff'])).code, 2);
  });
});

test('probe waits for the results, and says if there are none', async () => {
  const { code, out, err } = await run(['probe', 'target', 'web', '--timeout', '2s']);
  assert.deepEqual([code, out], [3, '']);
  assert.match(err[0] ?? '', /^error: target\/web: no result of main#readiness by the end of --timeout/);
  assert.deepEqual((await run(['probe', 'target/still'])).err, ['error: target/still has no probes']);
  assert.equal((await run(['probe', 'target/none'])).code, 4);
  assert.equal((await run(['probe', 'target', 'a', 'b'])).code, 2);
});

test('version is that of the program and of the server', async () => {
  assert.equal((await run(['version'])).out, `Client: ${version}\nServer: API 1, ok\n`);
  assert.equal((await run(['version', '--client'])).out, `Client: ${version}\n`);
});
