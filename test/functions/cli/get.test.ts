/** `probelet get`: its tables and documents, byte by byte, and its exit codes. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { eventSource } from '../../api/watching.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { servedWorld } from './served.ts';

const events = eventSource();
const hosts = 'a\t10.0.0.2\ntask\t10.0.0.4\nweb\t10.0.0.1\n';
const { world, run } = await servedWorld({ watch: events.watch });

const spec = (host: string) => ({ host, readinessProbe: { tcpSocket: { port: 80 } } });
const put = (path: string, body: object) =>
  world.expect(path.endsWith('/status') ? 200 : 201, 'PUT', `/v1/namespaces/${path}`, body);

before(async () => {
  await put('default/targets/web', { metadata: { labels: { team: 'shop' } }, spec: spec('10.0.0.1') });
  await put('default/targets/a', { spec: spec('10.0.0.2') });
  await put('test/targets/web', { spec: spec('10.0.0.3') });
  await put('default/targets/task', {
    spec: { ...spec('10.0.0.4'), lifecycle: 'reported', readinessProbe: undefined, containers: [{ name: 'app' }] },
  });
  const running = { startedAt: '2026-01-01T12:00:00Z' };
  const terminated = { exitCode: 1, reason: 'Error', finishedAt: '2026-01-01T12:00:00Z' };
  const app = {
    name: 'app',
    containerID: 'containerd://2',
    state: { running },
    lastState: { terminated },
    restartCount: 3,
  };
  await put('default/targets/task/status', { status: { containerStatuses: [app] } });
  await world.bus.settled();
  world.advance(30_000);
});

describe('get targets', () => {
  test('prints a row for each, sorted by name', async () => {
    const { code, out, err } = await run(['get', 'targets']);
    assert.deepEqual([code, err], [0, []]);
    assert.equal(
      out,
      [
        'NAME   READY   STATUS    RESTARTS      AGE',
        'a      ?/1     Unknown   0             30s',
        'task   1/1     Running   3 (30s ago)   30s',
        'web    ?/1     Unknown   0             30s',
        '',
      ].join('\n'),
    );
  });

  test('prints those of all namespaces, and more columns', async () => {
    const { out } = await run(['get', 't', '-A', '-o', 'wide', '-l', 'team!=x']);
    assert.equal(
      out,
      [
        'NAMESPACE   NAME   READY   STATUS    RESTARTS      AGE   HOST       PORTS    READINESS GATES   RESULT                             SINCE    LAST-FAILURE',
        'default     a      ?/1     Unknown   0             30s   10.0.0.2   80/tcp   <none>            readiness unknown (NotYetProbed)   30s      <none>',
        'default     task   1/1     Running   3 (30s ago)   30s   10.0.0.4   <none>   <none>            <none>                             <none>   <none>',
        'default     web    ?/1     Unknown   0             30s   10.0.0.1   80/tcp   <none>            readiness unknown (NotYetProbed)   30s      <none>',
        'test        web    ?/1     Unknown   0             30s   10.0.0.3   80/tcp   <none>            readiness unknown (NotYetProbed)   30s      <none>',
        '',
      ].join('\n'),
    );
  });

  test('selects by label and by name', async () => {
    for (const args of [
      ['get', 'targets', '-l', 'team=shop', '-o', 'name'],
      ['get', 'target/web', '-o', 'name'],
      ['get', 'target', 'web', '--output=name'],
    ])
      assert.deepEqual(await run(args), { code: 0, out: 'target/web\n', err: [] });
  });

  test('prints documents as the API shows them', async () => {
    const { body } = await world.ask('GET', '/v1/namespaces/default/targets/web');
    assert.deepEqual(parse((await run(['get', 'target', 'web', '-o', 'yaml'])).out), body);
    assert.deepEqual(JSON.parse((await run(['get', 'target', 'web', '-o', 'json'])).out), body);
    const lists = [
      parse((await run(['get', 'targets', '-o', 'yaml'])).out),
      JSON.parse((await run(['get', 'targets', '-o', 'json'])).out),
    ];
    for (const list of lists) {
      assert.deepEqual([list.apiVersion, list.kind, list.items.length], ['probelet.dev/v1', 'TargetList', 3]);
      assert.deepEqual(list.items[2], body);
    }
  });

  test('prints an empty list as a document, too', async () => {
    for (const format of ['yaml', 'json'])
      assert.deepEqual(parse((await run(['get', 'targets', '-n', 'none', '-o', format])).out).items, []);
  });

  test('prints what there is of several as a whole document', async () => {
    for (const [resource, format, names] of [
      ['targets', 'json', ['a', 'web']],
      ['targets', 'yaml', ['a', 'web']],
      ['probes', 'json', ['a', 'web']],
      ['probes', 'yaml', ['a', 'web']],
    ] as const) {
      const { code, out, err } = await run(['get', resource, 'web', 'nope', 'a', '-o', format]);
      assert.deepEqual([code, err], [4, ['error: there is no target nope in namespace default']]);
      const items = (format === 'json' ? JSON.parse(out) : parse(out)).items as readonly {
        readonly target?: string;
        readonly metadata?: { readonly name: string };
      }[];
      assert.deepEqual(
        items.map(({ target, metadata }) => target ?? metadata?.name),
        names,
      );
    }
    assert.equal((await run(['get', 'targets', 'nope', 'no', '-o', 'json'])).out, '');
  });

  test('says what is not there', async () => {
    assert.deepEqual(await run(['get', 'targets', '-n', 'none']), {
      code: 0,
      out: '',
      err: ['No targets found in namespace none.'],
    });
    assert.deepEqual((await run(['get', 'targets', '-A', '-l', 'a=b'])).err, ['No targets found.']);
    const { code, out, err } = await run(['get', 'targets', 'nope', 'a', '-o', 'name']);
    assert.deepEqual([code, out, err], [4, 'target/a\n', ['error: there is no target nope in namespace default']]);
  });

  test("takes kubectl's ways to write an option", async () => {
    for (const line of ['get t -n=test', 'get t -ntest', 'get t -A=true -l=nope!=x -o=name', 'get t --namespace=test'])
      assert.match((await run(line.split(' '))).out, /^(NAME|target\/)[\s\S]*web/m, line);
    assert.deepEqual((await run(['get', 't', '-n=none', '-o=name'])).err, ['No targets found in namespace none.']);
  });

  test('prints what a template finds, in one target and in a list', async () => {
    for (const [args, out] of [
      [['target', 'web', '-o', 'jsonpath={.metadata.name} at {.spec.host}'], 'web at 10.0.0.1'],
      [['targets', '-o', 'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.spec.host}{"\\n"}{end}'], hosts],
      [['targets', '-o', `jsonpath={.items[?(@.spec.lifecycle=="reported")].metadata.name}`], 'task'],
      [['target', 'web', '-o=jsonpath={.metadata.labels}'], '{"team":"shop"}'],
      [['target', 'web', '-o', 'jsonpath-as-json={.metadata.labels}'], '[\n    {\n        "team": "shop"\n    }\n]\n'],
      [['targets', '-o', 'jsonpath={.nope}'], ''],
      [['probes', 'web', '-o', 'jsonpath={.items[0].probeType}'], 'readiness'],
    ] as const)
      assert.deepEqual(await run(['get', ...args]), { code: 0, out, err: [] }, args.join(' '));
    const { code, err } = await run(['get', 'targets', '-o', 'jsonpath={.items.x[0]}{.kind[0]}']);
    assert.deepEqual([code, err], [1, ['error: the template cannot be printed: "TargetList" is not array or slice']]);
  });

  test('prints columns of its own, with and without their heads', async () => {
    const columns = 'NAME:.metadata.name,TEAM:.metadata.labels.team,GATES:.spec.readinessGates[*].conditionType';
    const rows = ['a      <none>   <none>', 'task   <none>   <none>', 'web    shop     <none>', ''];
    const args = ['get', 'targets', '-o', `custom-columns=${columns}`];
    assert.equal((await run(args)).out, ['NAME   TEAM     GATES', ...rows].join('\n'));
    assert.equal((await run([...args, '--no-headers'])).out, rows.join('\n'));
    const file = join(temporaryFolder(), 'columns');
    writeFileSync(file, 'NAME            HOST\n.metadata.name  {.spec.host}\n');
    const { out } = await run(['get', 'target', 'web', '-o', `custom-columns-file=${file}`]);
    assert.equal(out, 'NAME   HOST\nweb    10.0.0.1\n');
    writeFileSync(file, '{.spec.host}');
    assert.equal((await run(['get', 'target', 'web', '-o', `jsonpath-file=${file}`])).out, '10.0.0.1');
  });

  test('sorts by what a path finds, texts of numbers as numbers, and what lacks it first', async () => {
    const names = async (...args: readonly string[]) => (await run(['get', 'targets', '-o', 'name', ...args])).out;
    assert.equal(await names('--sort-by', '.spec.host'), 'target/web\ntarget/a\ntarget/task\n');
    assert.equal(await names('--sort-by={.metadata.labels.team}'), 'target/a\ntarget/task\ntarget/web\n');
    assert.equal(
      await names('--sort-by=status.containerStatuses[0].restartCount'),
      'target/a\ntarget/web\ntarget/task\n',
    );
    const { code, err } = await run(['get', 'targets', '--sort-by', '.spec.nope']);
    assert.deepEqual([code, err], [1, ['error: --sort-by: none of them has .spec.nope']]);
    assert.match((await run(['get', 'targets', '--sort-by=.spec'])).err[0] ?? '', /\.spec has no order/);
  });

  test('selects by field and by readiness', async () => {
    const names = async (...args: readonly string[]) => (await run(['get', 'targets', '-o', 'name', ...args])).out;
    assert.equal(await names('--field-selector', 'spec.host!=10.0.0.1'), 'target/a\ntarget/task\n');
    assert.equal(await names('--field-selector=spec.lifecycle=reported'), 'target/task\n');
    assert.equal(await names('--ready', 'true'), 'target/task\n');
    assert.equal(await names('--not-ready'), 'target/a\ntarget/web\n');
    for (const args of [
      ['a', '--not-ready'],
      ['--ready=true', '--not-ready'],
      ['--ready=maybe'],
      ['-w', '--not-ready'],
    ])
      assert.equal((await run(['get', 'targets', ...args])).code, 2, args.join(' '));
    const { code, err } = await run(['get', 'targets', '--field-selector', 'spec.nope=1']);
    assert.deepEqual([code, err.length], [1, 1]);
    assert.match(err[0] ?? '', /fieldSelector "spec\.nope" is no field to select by; those are metadata\.name/);
  });

  test('shows labels, and no heads, where they are asked for', async () => {
    const { out } = await run(['get', 'targets', '--show-labels', '--no-headers']);
    assert.match(out, /^a .* <none>\ntask .* <none>\nweb .* team=shop\n$/);
  });

  test('is coloured on a terminal only, and not where NO_COLOR says no', async () => {
    const args = ['get', 'target', 'task'];
    const plain = (await run(args)).out;
    const coloured = (await run(args, { isTerminal: true })).out;
    assert.ok(coloured.includes('\u001b[32m1/1  \u001b[0m   Running'), coloured);
    assert.equal((await run(args, { isTerminal: true, env: { NO_COLOR: '1' } })).out, plain);
    assert.equal(plain.includes('\u001b'), false);
  });

  test('says how it is used', async () => {
    for (const [args, expected] of [
      [['get'], /missing required argument 'resource'/],
      [['get', 'targts'], /there is no resource targts: did you mean targets\?/],
      [['get', 'pods'], /there is no resource pods: must be targets, probes or events/],
      [['get', 'target', 'a', '-A'], /a name goes with neither --all-namespaces nor --selector/],
      [['get', 'target/'], /target\/ must be KIND\/NAME/],
      [['get', 'targets', '-o', 'xml'], /Allowed choices are wide, yaml, json, name, jsonpath=…/],
      [['get', 'targets', '-o', 'jsonpath'], /jsonpath needs what to print, as in jsonpath='\{\.metadata\.name\}'/],
      [['get', 'targets', '-o', 'jsonpath=.kind'], /a path stands in braces, as in '\{\.kind\}'/],
      [['get', 'targets', '-o', 'jsonpath={.items[*}'], /unterminated array/],
      [['get', 'targets', '-o', 'custom-columns=NAME'], /NAME must be HEAD:PATH/],
      [['get', 'targets', '-o', 'jsonpath-file=/nope'], /\/nope there is no such file/],
      [['get', 'targets', '--sort-by', '{.a}{.b}'], /must be a path such as \.metadata\.name/],
      [['get', 'targets', '--request-timeout', 'soon'], /must be a duration such as 30s or 5m/],
      [['get', 'targets', '--server', 'ftp://x'], /must be an http or https URL, or unix:PATH/],
      [['get', 'targets', '--server', 'http://user:secret@x'], /a token stands in a file/],
    ] as const) {
      const { code, out, err } = await run(args);
      assert.deepEqual([code, out, err.length], [2, '', 1]);
      assert.match(err[0] ?? '', expected);
      assert.match(err[0] ?? '', / See 'probelet get --help'\.$/);
    }
    const { code, err } = await run(['get', 'targets', '-l', 'a===']);
    assert.deepEqual(
      [code, err],
      [1, ['error: Not all parameters are valid: labelSelector expected a label value, found "="']],
    );
  });
});

describe('get probes', () => {
  test('prints a row for each probe', async () => {
    const { out } = await run(['get', 'probes', 'web']);
    assert.equal(
      out,
      [
        'TARGET   CONTAINER   TYPE        RESULT    REASON         SINCE   LAST',
        'web      main        readiness   unknown   NotYetProbed   30s     <none>',
        '',
      ].join('\n'),
    );
  });

  test('prints documents and names', async () => {
    const { items } = parse((await run(['get', 'probes', 'web', '-o', 'yaml'])).out);
    assert.deepEqual([items.length, items[0].target, items[0].probeType], [1, 'web', 'readiness']);
    assert.equal((await run(['get', 'probe/web', '-o', 'name'])).out, 'probe/web/main/readiness\n');
  });
});

describe('get --watch', () => {
  /** Ends the watch once it has printed as often as there are steps; each piece that is printed does the next one. */
  async function watched(args: readonly string[], steps: readonly (() => unknown)[]) {
    const controller = new AbortController();
    const left = [...steps];
    return run(args, {
      interrupted: () => controller.signal,
      onOut: () => void (left.shift() ?? (() => controller.abort()))(),
    });
  }

  test('prints a target again when it has changed, below its first row', async () => {
    const { code, out, err } = await watched(
      ['get', 'targets', 'a', '-w'],
      [
        async () => {
          // Nothing has changed.
          await events.send(1, 'a');
          await world.expect(200, 'PATCH', '/v1/namespaces/default/targets/a', { metadata: { labels: { b: 'c' } } });
          await events.send(2, 'web');
          await events.send(3, 'a');
        },
      ],
    );
    assert.deepEqual([code, err], [0, []]);
    const row = 'a      ?/1     Unknown   0          30s\n';
    assert.equal(out, `NAME   READY   STATUS    RESTARTS   AGE\n${row}${row}`);
  });

  test('prints documents', async () => {
    const { out } = await watched(['get', 'target', 'a', '-w', '-o', 'yaml'], []);
    assert.match(out, /^---\napiVersion: probelet\.dev\/v1\nkind: Target\n/);
  });
});

test('a table of targets says how much of the configured files is not monitored', async () => {
  for (const [notMonitored, annotations, expected] of [
    [
      2,
      { 'probelet.dev/config-file': 'a.yaml' },
      ['2 entries of the configured files are not monitored: the log of the server names them.'],
    ],
    [
      1,
      { 'probelet.dev/config-file': 'a.yaml' },
      ['One entry of the configured files is not monitored: the log of the server names it.'],
    ],
    [0, { 'probelet.dev/config-file': 'a.yaml' }, []],
    [2, {}, []],
  ] as const) {
    const health = () => ({ ok: true, quarantined: [], details: { notMonitored } });
    const served = await servedWorld({ health });
    const body = { metadata: { annotations }, spec: spec('10.0.0.1') };
    await served.world.expect(201, 'PUT', '/v1/namespaces/default/targets/a', body);
    const { code, out, err } = await served.run(['get', 'targets']);
    assert.deepEqual([code, out.split('\n').length, err], [0, 3, [...expected]]);
    assert.deepEqual((await served.run(['get', 'targets', '-o', 'name'])).err, []);
    assert.deepEqual((await served.run(['get', 'target', 'a'])).err, []);
  }
});
