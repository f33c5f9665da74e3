/** Nothing that a server or a file says commands the terminal or forges a line, whatever the command and its format. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Command } from 'commander';
import { parseAllDocuments, parse as parseYaml } from 'yaml';
import { gatedIo, processIo } from '../../../functions/cli/io.ts';
import { programOf } from '../../../functions/cli/program.ts';
import { problemSchema } from '../../../shared/api/http/problem.ts';
import { manifestSchema } from '../../../shared/api/schema/manifest-schema.ts';
import { configSchema } from '../../../shared/config/config-schema.ts';
import { hostileAnswers } from '../../support/hostile-answers.ts';
import { assertHarmless, eachHostile, hostileText, hostileValue } from '../../support/hostile-text.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { ranCli } from './run.ts';
import { foreignServer } from './served.ts';

const folder = temporaryFolder();
const written = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const manifestOf = (name: string) =>
  `metadata: { name: ${name} }\nspec: { host: 127.0.0.1, readinessProbe: { tcpSocket: { port: 1 } } }\n`;
mkdirSync(join(folder, '.config/probelet'), { recursive: true });
const context = { name: hostileText, server: hostileText, namespace: hostileText, 'token-file': hostileText };
written('.config/probelet/config.yaml', JSON.stringify({ contexts: [context] }));
const good = written('good.yaml', manifestOf('a'));
/** So many that a line of the request has each. */
const many = written('many.yaml', Array.from({ length: 60 }, (_, index) => manifestOf(`a${index}`)).join('---\n'));
const config = written(
  'silences.yaml',
  JSON.stringify({
    alerts: [
      {
        name: hostileText,
        notify: ['a'],
        silences: [{ match: { names: [hostileText] }, until: '2030-01-01T00:00:00Z', reason: hostileText }],
      },
    ],
    receivers: [{ name: 'a', slack: { url: 'http://127.0.0.1:1/' } }],
  }),
);

const templates: { readonly [format: string]: string } = {
  'jsonpath=': 'jsonpath={..}',
  'jsonpath-as-json=': 'jsonpath-as-json={..}',
  'jsonpath-file=': `jsonpath-file=${written('template', '{..}')}`,
  'custom-columns=': 'custom-columns=A:.metadata,B:.spec',
  'custom-columns-file=': `custom-columns-file=${written('columns', 'A B\n.metadata .spec')}`,
};

/** By command, arguments that make it print all that it prints in its first format. */
const callsOf: { readonly [command: string]: readonly (readonly string[])[] } = {
  'alerts silence': [['-f', config, '--all-targets', '--for', '1h', '--reason', 'a']],
  'alerts silences': [['-f', config]],
  'alerts test': [
    [
      '-f',
      written(
        'receivers.yaml',
        JSON.stringify({ receivers: [{ name: hostileText, webhook: { url: 'http://127.0.0.1:1/' } }] }),
      ),
    ],
  ],
  apply: [
    ['-f', good],
    ['-f', good, '--diff'],
    ['-f', good, '--prune'],
    ['-f', many],
  ],
  completion: [['bash'], ['zsh'], ['fish']],
  'context add': [['a', '--url', 'http://127.0.0.1:1']],
  'context delete': [[hostileText]],
  'context list': [[]],
  'context use': [[hostileText]],
  convert: [['-f', good]],
  cost: [
    ['--targets', '1'],
    ['-f', good],
  ],
  delete: [['target/a'], ['targets', '-l', 'a=b'], ['-f', good]],
  describe: [['target/a']],
  diff: [['-f', good]],
  doctor: [[]],
  edit: [['target/a']],
  events: [[]],
  explain: [['target'], [`target.${hostileText}`]],
  get: ['targets', 'probes', 'events'].flatMap((what) => [[what], [what, '-A', '--show-labels']]),
  lint: [['-f', good]],
  probe: [['target/a', '--timeout', '1s']],
  simulate: [
    ['--target', 'a'],
    ['-f', good, 'S'],
  ],
  try: [['-f', good]],
  version: [[]],
  wait: [
    ['--for=condition=Ready', 'target/a', '--timeout', '1s'],
    ['--for=delete', 'target/a', '--timeout', '1s'],
  ],
};

type Called = { readonly name: string; readonly args: readonly string[]; readonly formats: readonly string[] };
const commands: Called[] = [];
let answers: Awaited<ReturnType<typeof hostileAnswers>>;

/** Those below the command, and it itself if it does something. */
const leaves = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);

const nameOf = (command: Command): string =>
  command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

before(async () => {
  answers = await hostileAnswers();
  const program = await programOf({ io: gatedIo(processIo()), endWith: () => undefined });
  for (const command of leaves(program)) {
    const name = nameOf(command);
    // The one becomes another program, and the other is what the completion of a shell calls: see completion.test.ts.
    if (name === 'start' || name === '__complete') continue;
    const { argChoices = [] } = command.options.find(({ long }) => long === '--output') ?? {};
    commands.push({ name, args: name.split(' '), formats: argChoices });
  }
});

test('every command is tried', () =>
  assert.deepEqual(commands.map(({ name }) => name).toSorted(), Object.keys(callsOf).toSorted()));

/** Each call of a command without a format, and in each of its formats. */
const linesOf = ({ name, args, formats }: Called): readonly (readonly string[])[] =>
  (callsOf[name] ?? []).flatMap((call) => [
    [...args, ...call],
    ...formats.map((format) => [...args, ...call, '-o', templates[format] ?? format]),
  ]);

const problem = hostileValue(problemSchema) as object;

function answer({ url = '', method = '' }: IncomingMessage, response: ServerResponse, body: string) {
  const { status, type, text } = answers({ method, path: url.replace(/\?.*/, ''), body });
  // A header has bytes.
  const warning = Buffer.from(`299 - ${JSON.stringify(hostileText)}`).toString('latin1');
  response.writeHead(status, { 'content-type': type, warning }).end(text);
}

type Listener = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const servers: { readonly [what: string]: Listener } = {
  answers: answer,
  refuses: (_, response) =>
    response
      .writeHead(422, { 'content-type': 'application/problem+json' })
      .end(JSON.stringify({ ...problem, errors: [{ pointer: hostileText, detail: hostileText }] })),
  'has other content': (_, response) =>
    response
      .writeHead(200, { 'content-type': Buffer.from('x/\u009b2J\u001b').toString('latin1').replaceAll('\u001b', '') })
      .end('{}'),
};

const served = (listener: Listener): Promise<string> =>
  foreignServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    listener(request, response, Buffer.concat(chunks).toString());
  });

const env = { HOME: folder, EDITOR: 'sed -i s/1/2/', VISUAL: '' };

for (const [what, listener] of Object.entries(servers))
  for (const name of Object.keys(callsOf))
    test(`${name} prints nothing that acts on a terminal when the server ${what}`, async () => {
      const url = await served(listener);
      const called = commands.find((each) => each.name === name);
      let all = '';
      for (const args of called ? linesOf(called) : []) {
        const { out, err } = await ranCli(args, { env: { ...env, PROBELET_URL: url } });
        const line = args.join(' ').replaceAll(folder, '');
        assertHarmless(out, line);
        for (const each of err) assert.doesNotMatch(each, /\n/, `${line}: an error of several lines`);
        assertHarmless(err.join('\n'), line);
        all += out + err.join('\n');
      }
      // An edit that is refused is seen in the file: see hostile-edit.test.ts.
      if (what !== 'has other content' && name !== 'edit' && /^ +--server </m.test(await helpOf(name)))
        assert.match(all, /owned/);
    });

const helpOf = async (name: string): Promise<string> => (await ranCli([...name.split(' '), '--help'])).out;

test('what is printed as YAML and JSON means what the server said', async () => {
  const url = await served(answer);
  const run = (format: string) => ranCli(['get', 'target/a', '-o', format], { env: { ...env, PROBELET_URL: url } });
  const target = JSON.parse(answers({ method: 'GET', path: '/v1/namespaces/default/targets/a', body: '' }).text);
  assert.deepEqual(JSON.parse((await run('json')).out), target);
  assert.deepEqual(parseYaml((await run('yaml')).out), target);
});

const examples = join(import.meta.dirname, '../../../examples');
const files = readdirSync(examples).filter((name) => /\.ya?ml$/.test(name));

async function fileCommands(value: unknown): Promise<void> {
  const file = ['-f', written('f.yaml', JSON.stringify(value))];
  const host = ['--host', 'localhost'];
  for (const args of [
    ['convert', ...file, ...host],
    ['lint', ...file, ...host],
    ['lint', ...file, ...host, '-o', 'sarif'],
    ['simulate', ...file, ...host, 'S'],
    ['cost', ...file],
  ]) {
    const { out, err } = await ranCli(args);
    assertHarmless(out, `${args[0]} ${JSON.stringify(value)}`);
    assertHarmless(err.join('\n'), `${args[0]} ${JSON.stringify(value)}`);
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
