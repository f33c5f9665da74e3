/** `probelet apply`: what it sends and prints, its exit codes, and what it leaves as it is. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { setLabel } from '../../../functions/cli/server/applying.ts';
import { problem, problemResponse } from '../../../shared/api/http/problem.ts';
import type { ApiDeps } from '../../../shared/api/ports/deps.ts';
import type { World } from '../../api/world.ts';
import { immediateClock } from '../../support/immediate-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { webRelease } from '../../support/web-release.ts';
import { foreignServer, runnerOf, served, servedWorld } from './served.ts';

const targetsPath = '/v1/namespaces/default/targets';

/** One target a document. `more`: of its metadata. */
const target = (name: string, port = 80, more = ''): string =>
  `metadata: { name: ${name}${more} }\nspec: { host: 10.0.0.1, readinessProbe: { tcpSocket: { port: ${port} } } }\n`;
const targets = (...names: readonly string[]): string => names.map((name) => target(name)).join('---\n');

/** A folder with these files, and `apply` in a new world, without the folder in what it prints. */
async function applying(t: TestContext, files: Readonly<Record<string, string>>, overrides: Partial<ApiDeps> = {}) {
  const folder = temporaryFolder(t);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const { world, run, url } = await servedWorld(overrides);
  const apply = async (...[args, options]: Parameters<typeof run>) => {
    const full = args.map((each) =>
      /\.(yaml|json)$|^\.$/.test(each) && !each.includes(':') ? join(folder, each) : each,
    );
    const { code, out, err } = await run(['apply', ...full], options);
    const short = (text: string) => text.replaceAll(`${folder}/`, '').replaceAll(folder, '.');
    return { code, out: short(out), err: err.map(short) };
  };
  const names = async () => {
    const { body } = await world.ask<{ readonly items: readonly { readonly metadata: Stored }[] }>(
      'GET',
      '/v1/targets?limit=500',
    );
    const left = body.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return left.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort();
  };
  return { folder, write, world, run, url, apply, names };
}

type Stored = { readonly namespace: string; readonly name: string; readonly deletionTimestamp?: string };

test('each manifest of examples can be applied as it is', async (t) => {
  const examples = new URL('../../../examples/', import.meta.url);
  const files = readdirSync(examples).filter((name) => name.endsWith('.yaml') && name !== 'compose.yaml');
  const { apply, names } = await applying(
    t,
    Object.fromEntries(files.map((name) => [name, readFileSync(new URL(name, examples), 'utf8')])),
  );
  for (const file of files) {
    const { code, out, err } = await apply(['-f', file]);
    assert.deepEqual([code, /^(target\/\S+ created\n)+$/.test(out)], [0, true], `${file}: ${out}${err.join()}`);
  }
  assert.ok((await names()).length >= files.length);
});

describe('apply', () => {
  test('says what was done with each target, as kubectl does', async (t) => {
    const { apply, write, world } = await applying(t, { 'a.yaml': targets('a', 'b') });
    assert.deepEqual(await apply(['-f', 'a.yaml']), { code: 0, out: 'target/a created\ntarget/b created\n', err: [] });
    write('a.yaml', `${target('a', 81)}---\n${target('b')}`);
    for (const [args, suffix] of [
      [['--dry-run'], ' (dry run)'],
      [['--dry-run=server'], ' (dry run)'],
      [['--dry-run=none'], ''],
    ] as const) {
      const { out } = await apply(['-f', 'a.yaml', ...args]);
      assert.equal(out, `target/a configured${suffix}\ntarget/b unchanged${suffix}\n`);
    }
    const { body } = await world.ask<{ readonly metadata: { readonly labels: object } }>('GET', `${targetsPath}/a`);
    assert.deepEqual(body.metadata.labels, { [setLabel]: 'default' });
  });

  test('prints names and documents instead', async (t) => {
    const { apply, world } = await applying(t, { 'a.yaml': targets('a', 'b'), 'c.yaml': target('c') });
    assert.equal((await apply(['-f', 'a.yaml', '-o', 'name'])).out, 'target/a\ntarget/b\n');
    const { kind, items } = parse((await apply(['-f', 'a.yaml', '-o', 'yaml'])).out);
    assert.deepEqual([kind, items.length], ['TargetList', 2]);
    const { out } = await apply(['-f', 'c.yaml', '-o', 'json']);
    const { body } = await world.ask<{ readonly metadata: object; readonly spec: object }>('GET', `${targetsPath}/c`);
    assert.partialDeepStrictEqual(JSON.parse(out), { metadata: body.metadata, spec: body.spec });
  });

  test('takes any format that convert takes, and names what it approximates and what is likely wrong', async (t) => {
    const pod = `apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  restartPolicy: Always
  nodeName: n1
  containers:
    - { name: app, readinessProbe: { httpGet: { port: 80 }, timeoutSeconds: 30 } }
`;
    const { apply } = await applying(t, { 'pod.yaml': pod });
    const { code, out, err } = await apply(['-f', 'pod.yaml', '--host', '10.0.0.1']);
    assert.deepEqual([code, out], [0, 'target/web created\n']);
    assert.deepEqual(
      err.map((line) => line.slice(0, 60)),
      [
        'pod.yaml:1:1: note: web: spec.nodeName does not concern probing'.slice(0, 60),
        'Warning: target/web: /spec/containers/0/readinessProbe/timeoutSeconds'.slice(0, 60),
      ],
    );
  });

  test('says how much of the files is no target, and calls a Service by its name in the namespace', async (t) => {
    const release = `${webRelease}---
apiVersion: apps/v1
kind: Deployment
metadata: { name: quiet }
spec: { template: { spec: { containers: [{ name: c }] } } }
`;
    const { apply, world } = await applying(t, { 'release.yaml': release });
    const { code, err } = await apply(['-f', 'release.yaml', '-n', 'shop']);
    assert.equal(code, 0);
    assert.equal(err.at(-1), '1 target: 0 exact, 1 approximated; 1 left out, which nothing probes.');
    const path = '/v1/namespaces/shop/targets/web';
    const { body } = await world.ask<{ readonly spec: { readonly host: string } }>('GET', path);
    assert.equal(body.spec.host, 'web.shop.svc.cluster.local');
  });

  test('sends nothing of a file that is wrong, and all of the others', async (t) => {
    const { apply, names } = await applying(t, {
      'a.yaml': `${target('a')}---\n${target('b', 0)}`,
      'b.yaml': target('c'),
    });
    const { code, out, err } = await apply(['-f', 'a.yaml', '-f', 'none.yaml', '-f', 'b.yaml']);
    assert.deepEqual([code, out], [1, 'target/c created\n']);
    assert.match(err[0] ?? '', /^a\.yaml:5:\d+: spec\.readinessProbe\.tcpSocket\.port must be /);
    assert.deepEqual(err.slice(1), ['none.yaml:1:1: there is no such file']);
    assert.deepEqual(await names(), ['default/c']);
  });

  test('names the place in the file of what the server refuses, and stores the others', async (t) => {
    const quotas: ApiDeps['quotas'] = {
      take: async (prefix) =>
        prefix.includes('/b#')
          ? { kind: 'exceeded', excess: { limit: 'targetsMax', max: 1, now: 1, asked: 1 } }
          : { kind: 'taken', end: () => undefined },
    };
    const { apply, world, names } = await applying(t, { 'a.yaml': targets('a', 'b', 'c') }, { quotas });
    await world.expect(201, 'PUT', `${targetsPath}/c`, { spec: { host: 'a', containers: [{ name: 'a' }] } });
    await world.expect(202, 'DELETE', `${targetsPath}/c`);
    const { code, out, err } = await apply(['-f', 'a.yaml', '--prune']);
    assert.deepEqual([code, out], [1, 'target/a created\n']);
    assert.deepEqual(err, [
      'a.yaml:4:1: target/b: targetsMax is 1: there are 1, and this asks for 1 more.',
      "a.yaml:7:1: target/c: The target is terminating; its name is free again when it is gone. Wait for that with 'probelet wait target/c --for=delete', or end it now with 'probelet delete target/c --now'.",
      'Nothing is pruned, because not everything is stored.',
    ]);
    assert.deepEqual(await names(), ['default/a']);
  });

  test('is for the namespace of the option; targets that name another one are refused', async (t) => {
    const { apply, names } = await applying(t, {
      'a.yaml': targets('a'),
      'b.yaml': target('b', 80, ', namespace: other'),
    });
    const { code, err } = await apply(['-f', 'a.yaml', '-f', 'b.yaml', '-n', 'shop']);
    assert.deepEqual(
      [code, err],
      [1, ['b.yaml:1:22: metadata.namespace must be shop, or absent, as --namespace says so']],
    );
    assert.equal((await apply(['-f', 'b.yaml'])).code, 0);
    assert.deepEqual(await names(), ['other/b', 'shop/a']);
  });

  test('refuses the second file that has a target of the same name', async (t) => {
    const { apply } = await applying(t, { 'a.yaml': targets('a'), 'b.yaml': targets('b', 'a') });
    const { code, out, err } = await apply(['-f', '.']);
    assert.deepEqual([code, out], [1, 'target/a created\n']);
    assert.deepEqual(err, ['b.yaml:4:13: metadata.name must be unique in all files: default/a is in a.yaml:1:13, too']);
  });

  test('says how it is used', async (t) => {
    const { apply } = await applying(t, { 'a.yaml': targets('a'), 'none.yaml': '' });
    for (const args of [
      [],
      ['-f', 'a.yaml', '--dry-run=client'],
      ['-f', 'a.yaml', '--apply-set', 'a b'],
      ['-f', 'a.yaml', '-o', 'wide'],
      ['a.yaml'],
    ])
      assert.equal((await apply(args)).code, 2, args.join(' '));
    assert.deepEqual(await apply(['-f', 'none.yaml']), { code: 1, out: '', err: ['No file has a target.'] });
  });
});

describe('what -f names', () => {
  const files = {
    'z.yaml': target('z'),
    'b.yml': target('b'),
    'c.json': JSON.stringify(parse(target('c'))),
    'read.me': '!',
    '.hidden.yaml': '!',
    'below/d.yaml': target('d'),
  };

  test('a folder is its files by name, and with -R those of its folders', async (t) => {
    const { apply, folder } = await applying(t, files);
    symlinkSync(folder, join(folder, 'circle'));
    assert.equal((await apply(['-f', '.', '-o', 'name'])).out, 'target/b\ntarget/c\ntarget/z\n');
    assert.equal((await apply(['-R', '-f', '.', '-o', 'name'])).out, 'target/b\ntarget/d\ntarget/c\ntarget/z\n');
  });

  test('a folder without files is an error', async (t) => {
    const { apply } = await applying(t, { 'below/a.txt': '' });
    const { code, err } = await apply(['-f', '.']);
    assert.deepEqual([code, err], [1, ['.:1:1: has no file *.yaml, *.yml, *.json; -R looks in its folders, too']]);
  });

  test('an address is fetched without credentials, and redirections are followed', async (t) => {
    const asked: unknown[] = [];
    const server = await foreignServer(({ url, headers }, response) => {
      asked.push(headers.authorization);
      if (url === '/moved') response.writeHead(302, { location: '/a.yaml' }).end();
      else if (url === '/circle') response.writeHead(302, { location: '/circle' }).end();
      else if (url === '/file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      else if (url === '/large') response.end(Buffer.alloc(9 * 1024 * 1024, ' '));
      else if (url === '/slow') return;
      else if (url === '/a.yaml') response.end(target('a'));
      else response.writeHead(404).end();
    });
    const { apply } = await applying(t, {});
    const env = { PROBELET_TOKEN: 'secret' };
    assert.equal((await apply(['-f', `${server}/moved`], { env })).out, 'target/a created\n');
    for (const [path, detail] of [
      ['none', 'cannot be fetched (status 404)'],
      ['circle', 'is redirected more than 5 times'],
      ['file', 'is redirected to what is no http or https URL, or from https to http'],
      ['large', 'has more than 8388608 bytes'],
      ['slow', 'did not arrive within 0.2 s'],
    ] as const) {
      const timeout = path === 'slow' ? ['--request-timeout', '200ms'] : [];
      const { code, err } = await apply(['-f', `${server}/${path}`, ...timeout]);
      assert.deepEqual([code, err], [1, [`${server}/${path}:1:1: ${detail}`]]);
    }
    assert.ok(asked.every((each) => each === undefined));
    assert.deepEqual((await apply(['-f', 'http://me:secret@127.0.0.1/a', '-f', 'ftp://a/b'])).err, [
      'http://127.0.0.1/a:1:1: must have no user or password: none is sent',
      'ftp://a/b:1:1: must be an http or https URL',
    ]);
  });
});

describe('--prune', () => {
  test('deletes what an earlier apply has stored and this one does not name', async (t) => {
    const { apply, write, names, world } = await applying(t, { 'a.yaml': targets('a', 'b') });
    const spec = { host: 'a', containers: [{ name: 'a' }] };
    await world.expect(201, 'PUT', `${targetsPath}/mine`, { spec });
    await apply(['-f', 'a.yaml']);
    write('other.yaml', targets('other'));
    await apply(['-f', 'other.yaml', '--apply-set', 'another']);
    write('shop.yaml', targets('c'));
    await apply(['-f', 'shop.yaml', '-n', 'shop']);
    write('a.yaml', targets('a'));
    assert.deepEqual(await apply(['-f', 'a.yaml', '--prune', '--dry-run']), {
      code: 0,
      out: 'target/a unchanged (dry run)\ntarget/b pruned (dry run)\n',
      err: [],
    });
    assert.deepEqual(await apply(['-f', 'a.yaml', '--prune', '-o', 'name']), {
      code: 0,
      out: 'target/a\n',
      err: ['target/b pruned'],
    });
    assert.deepEqual(await names(), ['default/a', 'default/mine', 'default/other', 'shop/c']);
    assert.equal((await apply(['-f', 'a.yaml', '--prune'])).out, 'target/a unchanged\n');
  });

  test('deletes nothing if a file is wrong, or none has a target', async (t) => {
    const { apply, write, names } = await applying(t, { 'a.yaml': targets('a', 'b') });
    await apply(['-f', 'a.yaml']);
    write('a.yaml', targets('a'));
    write('b.yaml', '!');
    const { code, err } = await apply(['-f', '.', '--prune']);
    assert.deepEqual([code, err.at(-1)], [1, 'Nothing is pruned, because not everything is stored.']);
    write('a.yaml', '');
    assert.equal((await apply(['-f', 'a.yaml', '--prune'])).code, 1);
    assert.deepEqual(await names(), ['default/a', 'default/b']);
  });

  test('leaves a target that has changed since it was listed', async (t) => {
    const { apply, write, world, run, names } = await applying(t, { 'a.yaml': targets('a', 'b') });
    await apply(['-f', 'a.yaml']);
    write('a.yaml', targets('a'));
    const url = await served(async (request) => {
      if (request.method === 'DELETE')
        await world.ask('PATCH', `${targetsPath}/b`, { metadata: { annotations: { by: 'another' } } });
      return world.app.fetch(request);
    });
    const { code, out } = await apply(['-f', 'a.yaml', '--prune', '--server', url]);
    assert.deepEqual([code, out], [1, 'target/a unchanged\ntarget/b has changed meanwhile and stays: apply again\n']);
    assert.deepEqual(await names(), ['default/a', 'default/b']);
    assert.equal((await run(['get', 'targets'])).code, 0);
  });
});

describe('--diff', () => {
  const expected = `--- target/a (namespace default)
+++ target/a (namespace default)
@@ -13,7 +13,7 @@
     - name: main
       readinessProbe:
         tcpSocket:
-          port: 80
+          port: 81
         initialDelaySeconds: 0
         periodSeconds: 10
         timeoutSeconds: 1
`;

  test('prints what changes, and with a dry run changes nothing', async (t) => {
    const { apply, write } = await applying(t, { 'a.yaml': targets('a', 'b') });
    const { out } = await apply(['-f', 'a.yaml', '--diff']);
    assert.match(out, /^--- \/dev\/null\n\+\+\+ target\/a \(namespace default\)\n@@ -0,0 \+1,\d+ @@\n\+metadata:\n/);
    write('a.yaml', `${target('a', 81)}---\n${target('b')}`);
    const last = 'target/a configured (dry run)\ntarget/b unchanged (dry run)\n';
    assert.equal((await apply(['-f', 'a.yaml', '--diff', '--dry-run'])).out, expected + last);
    assert.equal((await apply(['-f', 'a.yaml', '--diff'])).out, expected + last.replaceAll(' (dry run)', ''));
  });

  test('comes by itself on a terminal, for what changes', async (t) => {
    const { apply, write } = await applying(t, { 'a.yaml': targets('a') });
    const onTerminal = { isTerminal: true, env: { NO_COLOR: '1' } };
    assert.equal((await apply(['-f', 'a.yaml'], onTerminal)).out, 'target/a created\n');
    write('a.yaml', target('a', 81));
    assert.equal((await apply(['-f', 'a.yaml', '--dry-run'])).out, 'target/a configured (dry run)\n');
    assert.equal(
      (await apply(['-f', 'a.yaml', '--dry-run', '--no-diff'], onTerminal)).out,
      'target/a configured (dry run)\n',
    );
    assert.equal((await apply(['-f', 'a.yaml', '-o', 'name'], onTerminal)).out, 'target/a\n');
    write('a.yaml', targets('a'));
    await apply(['-f', 'a.yaml']);
    write('a.yaml', target('a', 81));
    assert.equal((await apply(['-f', 'a.yaml'], onTerminal)).out, `${expected}target/a configured\n`);
    assert.equal((await apply(['-f', 'a.yaml'], onTerminal)).out, 'target/a unchanged\n');
  });

  test('of more than 100 targets comes only if it is asked for', async (t) => {
    const many = (port: number) => Array.from({ length: 101 }, (_, at) => target(`t${at}`, port)).join('---\n');
    const { apply, write } = await applying(t, { 'a.yaml': many(80) });
    await apply(['-f', 'a.yaml']);
    write('a.yaml', many(81));
    assert.ok(!(await apply(['-f', 'a.yaml', '--dry-run'], { isTerminal: true })).out.includes('@@'));
    const { out } = await apply(['-f', 'a.yaml', '--diff'], { isTerminal: true });
    assert.equal(out.match(/@@ -13,7 \+13,7 @@/g)?.length, 101);
  });

  test('is coloured on a terminal', async (t) => {
    const { apply, write } = await applying(t, { 'a.yaml': targets('a') });
    await apply(['-f', 'a.yaml']);
    write('a.yaml', target('a', 81));
    const diff = ['-f', 'a.yaml', '--diff', '--dry-run'];
    const { out } = await apply(diff, { isTerminal: true });
    assert.ok(out.includes('\u001b[31m-          port: 80\u001b[0m\n\u001b[32m+          port: 81\u001b[0m\n'), out);
    assert.ok(!(await apply(diff, { isTerminal: true, env: { NO_COLOR: '1' } })).out.includes('\u001b'));
  });
});

const linesPath = '/v1/targets:apply';
const noSuchRoute = problem(404, 'no-such-route', 'There is nothing at this path.');

describe('targets that are enough for lines', () => {
  const count = 60;
  const many = Array.from({ length: count }, (_, at) => `t${at}`);
  const created = many.map((name) => `target/${name} created\n`).join('');
  const requestsOf = async (world: World, { hasRoute }: { readonly hasRoute: boolean }) => {
    const sent: string[] = [];
    const url = await served((request) => {
      const { pathname } = new URL(request.url);
      sent.push(`${request.method} ${pathname}`);
      return hasRoute || pathname !== linesPath ? world.app.fetch(request) : problemResponse(noSuchRoute);
    });
    return { url, sent };
  };

  test('are sent in lines, and what is refused is named at its place', async (t) => {
    const other = target('other', 80, ', namespace: other, labels: { a: -b }');
    const { apply, world, names } = await applying(t, { 'a.yaml': targets(...many), 'b.yaml': other });
    const { url, sent } = await requestsOf(world, { hasRoute: true });
    const { code, out, err } = await apply(['-f', 'a.yaml', '-f', 'b.yaml', '--server', url]);
    assert.deepEqual([code, out], [1, created]);
    assert.match(err.join(), /^b\.yaml:1:\d+: metadata\.labels\.a must /);
    assert.deepEqual(sent, [`PUT ${linesPath}`]);
    assert.equal((await names()).length, count);
    const again = await apply(['-f', 'a.yaml', '--dry-run', '--server', url]);
    assert.equal(again.out, created.replaceAll('created', 'unchanged (dry run)'));
  });

  test('are sent in lists to a server that has no route for lines', async (t) => {
    const { apply, world, names } = await applying(t, { 'a.yaml': targets(...many) });
    const { url, sent } = await requestsOf(world, { hasRoute: false });
    assert.deepEqual(await apply(['-f', 'a.yaml', '--server', url]), { code: 0, out: created, err: [] });
    assert.deepEqual(sent, [`PUT ${linesPath}`, `PUT ${targetsPath}`]);
    assert.equal((await names()).length, count);
  });

  test('are sent in lists where the stored targets are printed', async (t) => {
    const { apply, world } = await applying(t, { 'a.yaml': targets(...many) });
    const { url, sent } = await requestsOf(world, { hasRoute: true });
    const { out } = await apply(['-f', 'a.yaml', '-o', 'json', '--server', url]);
    assert.equal(JSON.parse(out).items.length, count);
    assert.deepEqual(sent, [`PUT ${targetsPath}`]);
  });
});

describe('many targets', () => {
  const many = Array.from({ length: 450 }, (_, index) => `t-${String(index).padStart(3, '0')}`);

  test('are sent to an older server in lists, in their order, and a run that was broken off is completed by the next', async (t) => {
    const { apply, world, url, names } = await applying(t, { 'a.yaml': targets(...many) });
    const sizes: number[] = [];
    const breaking = await served(async (request) => {
      if (new URL(request.url).pathname === linesPath) return problemResponse(noSuchRoute);
      const { items } = (await request.clone().json()) as { readonly items: readonly unknown[] };
      sizes.push(items.length);
      if (sizes.length > 3) return new Response('bye', { status: 500 });
      return world.app.fetch(request);
    });
    const broken = await apply(['-f', 'a.yaml', '--server', breaking]);
    assert.equal(broken.code, 1);
    assert.match(broken.err[0] ?? '', /is not probelet's API \(the answer has the status 500/);
    assert.ok(sizes.every((size) => size === 100 || size === 50));
    const stored = (await names()).length;
    assert.ok(stored > 0 && stored < many.length, `${stored} are stored`);
    const { code, out } = await apply(['-f', 'a.yaml', '--server', url]);
    const lines = out.trimEnd().split('\n');
    assert.deepEqual([code, lines.length], [0, many.length]);
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      many.map((name) => `target/${name}`),
    );
    assert.equal(lines.filter((line) => line.endsWith(' unchanged')).length, stored);
    assert.deepEqual(
      await names(),
      many.map((name) => `default/${name}`),
    );
  });

  test('what the server had no time for is sent again', async (t) => {
    let elapsedMs = 0;
    // The time of a request is over after a few dozen targets.
    const clock = { ...immediateClock(), monotonicMs: () => (elapsedMs += 150) };
    const { apply, world } = await applying(t, { 'a.yaml': targets(...many.slice(0, 100)) }, { clock });
    let asked = 0;
    const url = await served((request) => {
      asked += 1;
      return world.app.fetch(request);
    });
    const { code, out, err } = await apply(['-f', 'a.yaml', '--server', url]);
    assert.deepEqual([code, err], [0, []]);
    assert.equal(out.match(/ created\n/g)?.length, 100);
    assert.ok(asked > 1);
  });

  test('a progress is shown after a second', async (t) => {
    const { apply } = await applying(t, { 'a.yaml': targets(...many) });
    const shown: string[] = [];
    let elapsedMs = 0;
    const clock = { ...immediateClock(), monotonicMs: () => (elapsedMs += 10) };
    await apply(['-f', 'a.yaml'], { clock, progress: (text) => void shown.push(text) });
    assert.match(shown[0] ?? '', /^\d+ of 450 targets$/);
    assert.equal(shown.at(-1), '');
  });
});

describe('a server that asks for fewer requests', () => {
  const throttling = async (t: TestContext, times: number, headers: Readonly<Record<string, string>>, body = '{}') => {
    const { apply, world } = await applying(t, { 'a.yaml': targets('a') });
    let asked = 0;
    const url = await served((request) => {
      asked += 1;
      const refused = new Response(body, { status: 429, headers: { 'content-type': 'application/json', ...headers } });
      return asked > times ? world.app.fetch(request) : refused;
    });
    const clock = immediateClock(1_000_000);
    const ran = await apply(['-f', 'a.yaml', '--server', url], { clock });
    return { ...ran, asked, waits: clock.waits };
  };

  test('is asked again when it says so', async (t) => {
    const { code, waits } = await throttling(t, 2, { 'retry-after': '7' });
    assert.deepEqual([code, waits], [0, [7_000, 7_000]]);
  });

  test('is asked again with a growing pause if it does not say when', async (t) => {
    const { code, waits } = await throttling(t, 3, {});
    assert.deepEqual([code, waits.length], [0, 3]);
    assert.ok((waits[2] ?? 0) > (waits[0] ?? 0));
  });

  test('is given up if it asks too often, or for too long a pause', async (t) => {
    const often = await throttling(t, 99, { 'retry-after': '1' });
    assert.deepEqual([often.code, often.asked], [1, 6]);
    assert.match(often.err[0] ?? '', /^error: \S+ asks for fewer requests: try again later/);
    const long = await throttling(t, 99, { 'retry-after': '3600' });
    assert.deepEqual([long.code, long.waits], [1, []]);
  });
});

test('a target that is deleted between its storing and its printing is named, and the others are printed', async (t) => {
  const { apply, world } = await applying(t, { 'a.yaml': targets('a', 'b', 'c') });
  const url = await served(async (request) => {
    const answer = await world.app.fetch(request);
    if (new URL(request.url).pathname.endsWith('/b'))
      return problemResponse(problem(404, 'target-not-found', 'There is none.'));
    if (request.method !== 'PUT') return answer;
    const { items } = (await answer.json()) as { readonly items: readonly { readonly target?: unknown }[] };
    return Response.json({ items: items.map(({ target: _, ...item }) => item) });
  });
  for (const format of ['json', 'yaml']) {
    const { code, out, err } = await apply(['-f', 'a.yaml', '-o', format, '--server', url]);
    const { items } = parse(out) as { readonly items: readonly { readonly metadata: { readonly name: string } }[] };
    assert.deepEqual([code, items.map(({ metadata }) => metadata.name)], [1, ['a', 'c']]);
    assert.deepEqual(err, ['a.yaml:4:1: target/b was stored and deleted again before it could be read.']);
  }
  const { code, out } = await apply(['-f', 'a.yaml', '-o', 'name', '--server', url]);
  assert.deepEqual([code, out], [0, 'target/a\ntarget/b\ntarget/c\n']);
});

test('a server that is down is one line', async (t) => {
  const { folder, world } = await applying(t, { 'a.yaml': targets('a') });
  const { code, err } = await runnerOf('http://127.0.0.1:1', world)(['apply', '-f', join(folder, 'a.yaml')]);
  assert.deepEqual([code, err.length], [1, 1]);
});
