/** `probelet context`, and which server, token and namespace a command takes. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Ran, ranCli } from './run.ts';
import { servedWorld } from './served.ts';

const { url, world } = await servedWorld();

function home() {
  const folder = temporaryFolder();
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
    ranCli(args, { env: { XDG_CONFIG_HOME: folder, ...env } });
  return { folder, run, file: join(folder, 'probelet/config.yaml') };
}

describe('context', () => {
  test('add, use, list and delete change the file, which only its user can read', async () => {
    const { run, file, folder } = home();
    assert.equal(
      (await run(['context', 'add', 'here', '--url', 'http://127.0.0.1:1', '-n', 'shop'])).out,
      'context/here added\n',
    );
    const added = await run([
      'context',
      'add',
      'there',
      '--url',
      'https://b.test',
      '--token-file',
      '/run/secrets/token',
    ]);
    assert.equal(added.out, 'context/there added\n');
    assert.equal((await run(['context', 'use', 'there'])).out, 'context/there is now the current one\n');
    assert.equal(
      (await run(['context', 'list'])).out,
      [
        'CURRENT   NAME    SERVER               NAMESPACE   TOKEN-FILE           AUTH',
        '          here    http://127.0.0.1:1   shop',
        '*         there   https://b.test                   /run/secrets/token',
        '',
      ].join('\n'),
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(join(folder, 'probelet')), ['config.yaml']);
    assert.equal((await run(['context', 'delete', 'there'])).out, 'context/there deleted\n');
    assert.equal(readFileSync(file, 'utf8').includes('current-context'), false);
    assert.equal((await run(['context', 'add', 'here', '--url', 'http://c.test'])).out, 'context/here replaced\n');
  });

  test('that is gone is named, with what to do', async () => {
    const { run } = home();
    assert.deepEqual(await run(['context', 'use', 'a']), {
      code: 4,
      out: '',
      err: ["error: there is no context a: add it by 'probelet context add NAME --url URL'"],
    });
    await run(['context', 'add', 'b', '--url', url]);
    assert.deepEqual((await run(['context', 'delete', 'a'])).err, ['error: there is no context a: there are b']);
    assert.deepEqual(await run(['get', 'targets', '--context', 'a']), {
      code: 1,
      out: '',
      err: ["error: there is no context a: choose one of 'probelet context list' by 'probelet context use NAME'"],
    });
  });

  test('is refused where it could not be used', async () => {
    const { run } = home();
    for (const args of [
      ['add', 'a b', '--url', url],
      ['add', 'a', '--url', 'no'],
      ['add', 'a'],
    ])
      assert.equal((await run(['context', ...args])).code, 2);
  });

  test('file that is wrong is an error that names it', async () => {
    const { run, file, folder } = home();
    mkdirSync(join(folder, 'probelet'));
    for (const text of [': : :\n- {', 'contexts: 1', 'contexts: []\nother: 1', '[]']) {
      writeFileSync(file, text);
      const { code, err } = await run(['context', 'list']);
      assert.deepEqual([code, err.length], [1, 1]);
      assert.ok(err[0]?.startsWith(`error: ${file}`) && err[0].endsWith('correct or remove the file'), err[0]);
    }
  });
});

test('an option precedes the environment, and that the current context', async () => {
  const { run } = home();
  await world.expect(201, 'PUT', '/v1/namespaces/shop/targets/a', { spec: { host: 'a', containers: [{ name: 'a' }] } });
  await run(['context', 'add', 'good', '--url', url, '-n', 'shop']);
  await run(['context', 'add', 'bad', '--url', 'http://127.0.0.1:1']);
  const names = ['get', 'targets', '-o', 'name'];
  const good = { code: 0, out: 'target/a\n', err: [] };
  assert.deepEqual(await run(names), good);
  assert.deepEqual(await run([...names, '--context', 'good'], { PROBELET_URL: 'http://127.0.0.1:1' }), good);
  assert.deepEqual(await run(['--context', 'good', ...names]), good);
  assert.deepEqual(await run([...names, '-n', 'shop'], { PROBELET_URL: url }), good);
  assert.deepEqual(await run([...names, '--context', 'bad', '--server', url, '-n', 'shop']), good);
  assert.equal((await run(names, { PROBELET_URL: 'http://127.0.0.1:1' })).code, 1);
  assert.equal((await run([...names, '--context', 'bad'])).code, 1);
  assert.deepEqual(await run(names, { PROBELET_URL: 'nonsense' }), {
    code: 2,
    out: '',
    err: ["error: PROBELET_URL: nonsense must be an http or https URL, or unix:PATH. See 'probelet get --help'."],
  });
});
