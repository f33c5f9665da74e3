/** Nothing that a server or a file says commands the terminal or forges a line, whatever the command and its format. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { parseAllDocuments, parse as parseYaml } from 'yaml';
import { manifestSchema } from '../../../shared/api/manifest-schema.ts';
import { problemSchema } from '../../../shared/api/problem-schema.ts';
import { eventSchema } from '../../../shared/api/routes/events.ts';
import { type TargetView, targetSchema } from '../../../shared/api/target-schema.ts';
import { configSchema } from '../../../shared/config/config-schema.ts';
import { assertHarmless, eachHostile, hostileText, hostileValue } from '../../support/hostile-text.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { ranCli } from './run.ts';
import { foreignServer } from './served.ts';

const folder = temporaryFolder();
const written = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const good = written(
  'good.yaml',
  'metadata: { name: a }\nspec: { host: 127.0.0.1, readinessProbe: { tcpSocket: { port: 1 } } }',
);
const formats = [
  'yaml',
  'json',
  'name',
  'jsonpath={..}',
  'jsonpath-as-json={..}',
  'custom-columns=A:.metadata,B:.spec',
];
const printed = (args: readonly string[], more: readonly string[] = []): readonly (readonly string[])[] =>
  [...formats, ...more].map((format) => [...args, '-o', format]);

const callsOf: { readonly [command: string]: readonly (readonly string[])[] } = {
  apply: [
    ['-f', good],
    ['-f', good, '--diff'],
    ['-f', good, '--prune'],
    ...['yaml', 'json', 'name'].map((o) => ['-f', good, '-o', o]),
  ],
  delete: [['target/a'], ['targets', '-l', 'a=b'], ['-f', good]],
  describe: [['target/a']],
  diff: [['-f', good]],
  doctor: [[], ['-o', 'json']],
  edit: [['target/a']],
  events: [[], ...printed([])],
  get: ['targets', 'probes', 'events'].flatMap((what) => [[what], [what, '-A'], ...printed([what], ['wide'])]),
  probe: [['target/a', '--timeout', '1s']],
  simulate: [
    ['--target', 'a'],
    ['--target', 'a', '-o', 'json'],
  ],
  version: [[]],
  wait: [
    ['--for=condition=Ready', 'target/a', '--timeout', '1s'],
    ['--for=delete', 'target/a', '--timeout', '1s'],
  ],
};

const target = hostileValue(targetSchema) as TargetView;
const event = hostileValue(eventSchema) as object;
const problem = hostileValue(problemSchema) as object;
const isHeard = (path: string, what: string): boolean => path.endsWith(`/${what}`);

function answerTo(path: string, method = ''): unknown {
  if (isHeard(path, 'healthz')) return { status: hostileText, notMonitored: 1 };
  if (isHeard(path, 'openapi.json')) return { info: { title: 'probelet', version: hostileText } };
  if (isHeard(path, 'events')) return { items: [event, { ...event, reason: 'Probed' }] };
  if (isHeard(path, 'probe')) return { probes: [{ container: hostileText, probeType: hostileText }] };
  if (isHeard(path, 'targets') && method === 'GET') return { metadata: {}, items: [target, target] };
  if (isHeard(path, 'targets'))
    return { items: [{ name: hostileText, status: 422, warning: hostileText, problem, target }] };
  return target;
}

const send = (response: ServerResponse, status: number, body: unknown): void => {
  const type = status < 300 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
};

const servers: { readonly [what: string]: (request: IncomingMessage, response: ServerResponse) => void } = {
  answers: ({ url = '', method }, response) => send(response, 200, answerTo(url.replace(/\?.*/, ''), method)),
  refuses: (_, response) =>
    send(response, 422, { ...problem, errors: [{ pointer: hostileText, detail: hostileText }] }),
  'has other content': (_, response) =>
    response
      .writeHead(200, { 'content-type': Buffer.from('x/\u009b2J\u001b').toString('latin1').replaceAll('\u001b', '') })
      .end('{}'),
};

const env = { HOME: folder, EDITOR: 'sed -i s/1/2/', VISUAL: '' };
const commands: string[] = [];
before(async () => {
  const listed = (await ranCli(['--help'])).out.split(/^Commands:$/m)[1] ?? '';
  for (const [, name = ''] of listed.matchAll(/^ {2}([a-z]+)/gm))
    if (name !== 'start' && /^ +--server </m.test((await ranCli([name, '--help'])).out)) commands.push(name);
});

test('every command that talks to a server is tried', () =>
  assert.deepEqual(commands.toSorted(), Object.keys(callsOf).toSorted()));

for (const [what, listener] of Object.entries(servers))
  for (const [command, calls] of Object.entries(callsOf))
    test(`${command} prints nothing that acts on a terminal when the server ${what}`, async () => {
      const url = await foreignServer(listener);
      let all = '';
      for (const args of calls) {
        const { out, err } = await ranCli([command, ...args], { env: { ...env, PROBELET_URL: url } });
        const line = [command, ...args].join(' ').replaceAll(folder, '');
        assertHarmless(out, line);
        for (const each of err) assert.doesNotMatch(each, /\n/, `${line}: an error of several lines`);
        assertHarmless(err.join('\n'), line);
        all += out + err.join('\n');
      }
      // An edit that is refused is seen in the file: see edit.test.ts.
      if (what !== 'has other content' && command !== 'edit') assert.match(all, /owned/);
    });

test('what is printed as YAML and JSON means what the server said', async () => {
  const url = await foreignServer((request, response) => servers.answers?.(request, response));
  const run = (format: string) => ranCli(['get', 'target/a', '-o', format], { env: { ...env, PROBELET_URL: url } });
  assert.deepEqual(JSON.parse((await run('json')).out), target);
  assert.deepEqual(parseYaml((await run('yaml')).out), target);
});

const examples = join(import.meta.dirname, '../../../examples');
const files = readdirSync(examples).filter((name) => /\.ya?ml$/.test(name));

async function fileCommands(value: unknown): Promise<void> {
  const file = written('f.yaml', JSON.stringify(value));
  for (const command of ['convert', 'lint']) {
    const { out, err } = await ranCli([command, '-f', file, '--host', 'localhost']);
    assertHarmless(out, `${command} ${JSON.stringify(value)}`);
    assertHarmless(err.join('\n'), `${command} ${JSON.stringify(value)}`);
    for (const each of err) assert.doesNotMatch(each, /\n/);
  }
}

for (const [name, schema] of Object.entries({ manifestSchema, configSchema }))
  test(`a file with every field of ${name} hostile prints nothing that acts on a terminal`, async () => {
    const value = hostileValue(schema);
    await fileCommands(value);
    for (const each of eachHostile(value)) await fileCommands(each);
    const file = written('config.yaml', JSON.stringify(value));
    const { out, err } = await ranCli(['alerts', 'test', '-f', file]);
    assertHarmless(out + err.join('\n'), 'alerts test');
  });

for (const name of files)
  test(`a text or name of ${name} that is hostile prints nothing that acts on a terminal`, async () => {
    for (const document of parseAllDocuments(readFileSync(join(examples, name), 'utf8')))
      for (const each of eachHostile(document.toJS())) await fileCommands(each);
  });

test('the name of a file is printed in one line without what acts on a terminal', async () => {
  const named = temporaryFolder();
  writeFileSync(join(named, `${hostileText.replaceAll('/', '')}.yaml`), 'a: 1');
  const { err } = await ranCli(['lint', '-f', named]);
  assertHarmless(err.join('\n'), 'lint');
  assert.match(err.join('\n'), /x\\u001b\]0;owned/);
});
