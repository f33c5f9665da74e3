/** What `-f` names is the same for every command that reads files: files, folders, addresses, the standard input. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { cliFiles } from './files.ts';
import { ranCli } from './run.ts';

const { folder } = cliFiles('convert');
const manifest = (name: string) =>
  `metadata: { name: ${name} }\nspec: { host: 127.0.0.1, readinessProbe: { tcpSocket: { port: 1 } } }\n`;
const server = createServer((_, response) => response.end(manifest('fetched')));
const manifests = join(folder, 'manifests');

before(async () => {
  mkdirSync(join(manifests, 'inner'), { recursive: true });
  writeFileSync(join(manifests, 'b.yaml'), manifest('b'));
  writeFileSync(join(manifests, 'a.json'), manifest('a'));
  writeFileSync(join(manifests, 'inner', 'c.yml'), manifest('c'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(() => server.close());

/** The names of the commands that `--help` lists, and of those the ones with `-f`. */
async function commandsWithFiles(): Promise<readonly string[]> {
  const listed = (await ranCli(['--help'])).out.split(/^Commands:$/m)[1] ?? '';
  const names = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name);
  const helps = await Promise.all(
    names
      .filter((name) => name !== 'start')
      .map(async (name) => ({ name, help: (await ranCli([name, '--help'])).out })),
  );
  return helps.filter(({ help }) => /^ +-f, --filename </m.test(help)).map(({ name }) => name);
}

test('each command with -f has -R, and says what -f may name', async () => {
  const commands = await commandsWithFiles();
  assert.deepEqual(commands.toSorted(), ['apply', 'convert', 'cost', 'delete', 'diff', 'lint', 'simulate', 'try']);
  for (const command of commands) {
    const help = (await ranCli([command, '--help'])).out.replaceAll(/\s+/g, ' ');
    assert.match(
      help,
      /-f, --filename <file> a file, a folder of \*\.yaml, \*\.yml and \*\.json, a URL, or - for/,
      command,
    );
    assert.match(help, /-R, --recursive/, command);
  }
});

/** By how a command shows that it has read so many targets. */
const countedBy: { readonly [command: string]: (names: readonly string[]) => Promise<number> } = {
  convert: async (names) => ((await ranCli(['convert', ...names])).out.match(/^metadata:$/gm) ?? []).length,
  simulate: async (names) =>
    ((await ranCli(['simulate', ...names, 'S'])).out.match(/^readiness probe of /gm) ?? []).length,
  try: async (names) => (JSON.parse((await ranCli(['try', ...names, '-o', 'json'])).out) as readonly unknown[]).length,
};

for (const [command, count] of Object.entries(countedBy))
  describe(command, () => {
    test('reads the files of a folder, and with -R of those in it', async () => {
      assert.equal(await count(['-f', manifests]), 2);
      assert.equal(await count(['-f', manifests, '-R']), 3);
    });

    test('reads what an address has, beside files', async () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.yaml`;
      assert.equal(await count(['-f', url, '-f', join(manifests, 'b.yaml')]), 2);
    });
  });

test('lint and cost judge what is in a folder and behind an address', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.yaml`;
  for (const args of [
    ['lint', '-f', manifests, '-R'],
    ['lint', '-f', url],
    ['cost', '-f', manifests],
    ['cost', '-f', url],
  ])
    assert.deepEqual([(await ranCli(args)).code, (await ranCli(args)).err], [0, []], args.join(' '));
});

test('a folder without files and an address that answers wrongly are one line each', async () => {
  for (const command of ['convert', 'lint', 'try', 'cost']) {
    const { code, err } = await ranCli([command, '-f', join(manifests, 'inner', 'none'), '-f', 'ftp://a/b']);
    assert.equal(code, 1, command);
    assert.deepEqual(
      err.slice(0, 2).map((line) => line.split(': ').slice(1).join(': ')),
      ['there is no such file', 'must be an http or https URL'],
    );
  }
});
