/** `probelet convert`: what it prints where, and its exit codes. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { webRelease } from '../../support/web-release.ts';
import { cliFiles } from './files.ts';

const { folder, fileOf, ran } = cliFiles('convert');

const good = fileOf(
  'good.yaml',
  'metadata: { name: a }\nspec: { host: b, livenessProbe: { tcpSocket: { port: 1 } } }\n',
);
const hostless = fileOf(
  'hostless.yaml',
  'metadata: { name: c }\nspec: { livenessProbe: { tcpSocket: { port: 1 } } }\n',
);
const other = fileOf('other.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n');

describe('convert', () => {
  test('prints the targets of all files, and what was left out beside them', async () => {
    const { code, out, err } = await ran('-f', good, '-f', other, '--filename', hostless, '--host', '10.0.0.1');
    assert.equal(code, 0);
    assert.deepEqual(err, [
      'other.yaml:1:1: note: ConfigMap a is of a kind without a known Pod template',
      '2 targets: 2 exact, 0 approximated; nothing is left out.',
    ]);
    const values = parseAllDocuments(out).map((document) => document.toJS());
    assert.deepEqual(
      values.map(({ metadata, spec }) => [metadata.name, spec.host]),
      [
        ['a', 'b'],
        ['c', '10.0.0.1'],
      ],
    );
  });

  test('prints no target if any file is wrong', async () => {
    const { code, out, err } = await ran('-f', good, '-f', hostless, '-f', join(folder, 'none.yaml'));
    assert.deepEqual([code, out], [1, '']);
    assert.deepEqual(err, [
      'hostless.yaml:2:1: spec.host must be set: a target has an address',
      'none.yaml:1:1: there is no such file',
    ]);
  });

  test('says what is lost last, and counts it on the standard error stream alone', async () => {
    const file = fileOf(
      'gatus.yaml',
      `endpoints:
  - { name: exact, url: "tcp://a:1", conditions: ["[CONNECTED] == true"] }
  - { name: near, url: "http://a/", conditions: ["[STATUS] == 200", "[BODY] == ok"] }
  - { name: never, url: "icmp://a", conditions: ["[CONNECTED] == true"] }
  - { name: also-never, url: "http://a/", conditions: ["[STATUS] == 404"] }
  - { name: off, enabled: false, url: "tcp://a:1", conditions: ["[CONNECTED] == true"] }
`,
    );
    const { code, out, err } = await ran('-f', file);
    assert.equal(code, 0);
    assert.equal(parseAllDocuments(out).length, 2);
    assert.deepEqual(
      err.map((line) => line.replace(/^gatus\.yaml:\d+:\d+: /, '').split(':')[0]),
      ['note', 'approximated', 'approximated', 'left out', 'left out', '2 targets'],
    );
    assert.equal(err.at(-1), '2 targets: 1 exact, 1 approximated; 2 left out, which nothing probes.');
  });

  test('takes the namespace of what names none, which is part of the names of Services', async () => {
    const file = fileOf('release.yaml', webRelease);
    const shown = (text: string) => {
      const { metadata, spec } = parseAllDocuments(text)[0]?.toJS() ?? {};
      return [metadata.namespace, spec.host];
    };
    assert.deepEqual(shown((await ran('-f', file, '-n', 'shop')).out), ['shop', 'web.shop.svc.cluster.local']);
    assert.deepEqual(shown((await ran('-f', file)).out), [undefined, 'web.default.svc.cluster.local']);
    assert.equal((await ran('-f', file, '-n', 'a.b')).code, 2);
  });

  test('fails if there is no target', async () => {
    const { code, err } = await ran('-f', other);
    assert.deepEqual([code, err.at(-1)], [1, 'No file has a target.']);
  });

  test('reads files of UTF-8 only', async () => {
    assert.deepEqual((await ran('-f', fileOf('latin', Uint8Array.of(0xe4)))).err, ['latin:1:1: is not UTF-8']);
  });

  test('waits for what a program pipes to it, also below npm, where reading does not wait', async () => {
    const cli = new URL('../../../functions/cli/main.ts', import.meta.url).pathname;
    const touched = `process.stdin.unref();
      require('node:child_process').spawn(process.execPath, [${JSON.stringify(cli)}, 'convert', '-f', '-'], { stdio: 'inherit' });`;
    const piped = `(sleep 1; cat '${good}') | '${process.execPath}' -e "$0"`;
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', piped, touched]);
    assert.match(stdout, /^metadata:\n {2}name: a\n/);
    assert.equal(stderr, '1 target: 1 exact, 0 approximated; nothing is left out.\n');
  });

  test('says how it is used', async () => {
    for (const [args, expected] of [
      [[], /required option '-f, --filename <file>' not specified\. See 'probelet convert --help'\.$/],
      [['-f', good, '--hots', 'x'], /^error: unknown option '--hots' \(Did you mean --host\?\) See /],
      [['-f', good, '--host', 'http://a/'], /argument 'http:\/\/a\/' is invalid\. must be a host name .* See /],
      [['-f'], /argument missing\. See /],
      [['-f', good, good], /files stand behind -f, as in 'probelet convert -f FILE'/],
    ] as const) {
      const { code, out, err } = await ran(...args);
      assert.deepEqual([code, out, err.length], [2, '', 1]);
      assert.match(err[0] ?? '', expected);
    }
  });
});
