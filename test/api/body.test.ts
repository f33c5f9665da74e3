import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { requestBodyBytesMax } from '../../shared/api/http/body.ts';
import { depthMax } from '../../shared/api/http/json.ts';
import { apiWorld, inWorld, manifest, targetPath, yaml } from './world.ts';

const path = targetPath('checkout');
const json = { 'content-type': 'application/json' };
const good = JSON.stringify(manifest());

async function put(body: string, headers: Readonly<Record<string, string>>) {
  const world = apiWorld();
  const answer = await world.ask('PUT', path, body, headers);
  assert.equal((await world.everything()) > 0, answer.status < 300);
  return { ...answer, detail: answer.body.detail ?? '' };
}

describe('malformed bodies are 400', () => {
  const rows: readonly (readonly [what: string, body: string, headers: Record<string, string>, detail: RegExp])[] = [
    ['no JSON', '{"spec":', json, /JSON/],
    ['empty JSON', '', json, /JSON/],
    ['YAML sent as JSON', 'spec: {}', json, /JSON/],
    ['a duplicate key in JSON', '{"spec": {"host": "a", "h\\u006fst": "b"}}', json, /duplicate key "host"/],
    ['JSON nested too deep', `{"a":${'['.repeat(depthMax)}${']'.repeat(depthMax)}}`, json, /nested deeper/],
    ['JSON nested a hundred times too deep', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, json, /nested deeper/],
    ['no YAML', 'spec: { host: 127.0.0.1', yaml, /Flow map/],
    ['YAML nested beyond the stack', '['.repeat(60_000), yaml, /./],
    ['a YAML key that is no string', '? [a, b]\n: c', yaml, /key/i],
  ];
  for (const [what, body, headers, detail] of rows)
    test(what, async () => {
      const answer = await put(body, headers);
      assert.equal(answer.status, 400);
      assert.match(answer.detail, detail);
    });

  inWorld('bytes that are not UTF-8', async (world) => {
    const body = new Uint8Array([0x22, 0xff, 0x22]);
    const request = new Request(`http://probelet.test${path}`, { method: 'PUT', headers: json, body });
    assert.equal((await world.app.fetch(request)).status, 400);
  });
});

describe('a whole number with a leading zero is read as programs in Go read it', () => {
  for (const [text, value] of [
    ['010', 8],
    ['+0100', 64],
    ['0o10', 8],
    ['0x10', 16],
    ['080', 80],
    ['00', 0],
  ] as const)
    test(`${text} is ${value}`, async () => {
      const probe = `{ tcpSocket: { port: 1 }, initialDelaySeconds: ${text} }`;
      const { body } = await put(`spec: { host: 127.0.0.1, livenessProbe: ${probe} }`, yaml);
      assert.match(JSON.stringify(body.spec), new RegExp(`"initialDelaySeconds":${value}[,}]`));
    });
});

describe('media types', () => {
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/yaml',
    'application/x-yaml',
    'text/yaml',
  ])
    test(`${type} is taken`, async () => assert.equal((await put(good, { 'content-type': type })).status, 201));

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/merge-patch+json',
    '',
  ])
    test(`${type || 'none'} is 415`, async () => {
      const { status, headers } = await put(good, { 'content-type': type });
      assert.equal(status, 415);
      assert.match(headers.get('accept') ?? '', /application\/yaml/);
    });

  test('what curl names without being asked is 415 with what to ask it for', async () => {
    const { detail } = await put(good, { 'content-type': 'application/x-www-form-urlencoded' });
    assert.match(detail, / For a file in YAML: curl -H 'content-type: application\/yaml' --data-binary @file$/);
    assert.doesNotMatch((await put(good, { 'content-type': 'text/plain' })).detail, /curl/);
  });

  test('a compressed body is 415', async () =>
    assert.equal((await put(good, { ...json, 'content-encoding': 'gzip' })).status, 415));
});

/** As `curl -d @file` sends a file. */
const stripped = (text: string): string => text.replaceAll(/[\r\n]/g, '');

describe('YAML that has lost its line breaks is 400 and says how to keep them', () => {
  const hint = /the body is one line, .*: curl -d @file strips them, --data-binary @file keeps them$/;
  const refused = async (text: string) => {
    const { status, detail } = await put(text, yaml);
    assert.deepEqual([status, hint.test(detail)], [400, true], `${text}\n${detail}`);
  };

  const folder = new URL('../../examples/', import.meta.url);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml') && name !== 'compose.yaml'))
    test(`examples/${file}, with its comments and without`, async () => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      await refused(stripped(text));
      await refused(stripped(text.replaceAll(/^ *#.*\n/gm, '')));
    });

  const rows: readonly (readonly [what: string, text: string])[] = [
    ['nested blocks', 'spec:\n  host: a\n  readinessProbe:\n    tcpSocket: { port: 1 }\n'],
    ['a comment at the end of a line', 'kind: Target # ours\napiVersion: probelet.dev/v1\nspec: {}\n'],
    ['a comment at the end of what is whole', `spec: ${JSON.stringify(manifest().spec)} # ours\nmetadata: {}\n`],
    ['a comment in a flow', 'spec: {\n  host: a, # ours\n  readinessProbe: { tcpSocket: { port: 1 } } }\n'],
    ['a mark before the document', '---\nspec: { host: a }\n'],
    ['a mark between documents', 'spec: { host: a }\n---\nspec: { host: b }\n'],
    ['a directive', '%YAML 1.2\n---\nspec: { host: a }\n'],
    ['a field without a value', 'spec:\nhost: a\n'],
    ['a list', 'spec:\n- a\n- b\n'],
    ['a list of fields', 'spec:\n- host: a\n'],
    ['a block of text', 'metadata:\n  annotations:\n    a: |\n      b\nspec: {}\n'],
    ['line breaks of Windows', 'apiVersion: v1\r\nkind: Pod\r\n'],
  ];
  for (const [what, text] of rows) test(what, () => refused(stripped(text)));

  test('a text of one line that is meant so is taken', async () => {
    const spec = JSON.stringify(manifest().spec);
    for (const text of [`spec: ${spec}`, `{ "spec": ${spec} }`, `spec: ${spec} # a target`, `# ours\nspec: ${spec}`])
      assert.equal((await put(text, yaml)).status, 201, text);
  });

  test('a malformed text of several lines says nothing of it', async () =>
    assert.doesNotMatch((await put('spec: {\n', yaml)).detail, /curl/));
});

describe('the size of a body', () => {
  const padded = (bytes: number) => good + ' '.repeat(bytes - good.length);

  test('64 KiB are taken', async () => assert.equal((await put(padded(requestBodyBytesMax), json)).status, 201));

  test('one more is 413', async () => assert.equal((await put(padded(requestBodyBytesMax + 1), json)).status, 413));

  test('characters count as their bytes', async () =>
    assert.equal((await put(`${good}${'\u00a0'.repeat(requestBodyBytesMax / 2)}`, json)).status, 413));

  inWorld('an endless body without a length is 413 and is not read on', async (world) => {
    let read = 0;
    let cancelled = false;
    const body = new ReadableStream({
      pull: (controller) => {
        read += 1;
        controller.enqueue(new Uint8Array(16 * 1024).fill(0x20));
      },
      cancel: () => {
        cancelled = true;
      },
    });
    const request = new Request(`http://probelet.test${path}`, { method: 'PUT', headers: json, body, duplex: 'half' });
    assert.equal((await world.app.fetch(request)).status, 413);
    assert.ok(read <= 8, `${read} chunks read`);
    assert.equal(cancelled, true);
  });
});
