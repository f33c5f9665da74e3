/** Backup and restore of docs/one-machine.md, beside a process that runs. `npm run e2e:one-machine` tries the rest. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { startProduct } from '../local/product.ts';
import { askApi, register, targetPath } from '../support/api-client.ts';
import { fencesOf } from '../support/markdown.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/wait.ts';

const markdown = readFileSync(join(import.meta.dirname, '../../docs/one-machine.md'), 'utf8');
const patience = { withinMs: 20_000, pollMs: 50 };

test('a backup of a running process is whole, a copy of its file is not, and restoring it brings all back', async (t) => {
  const folder = temporaryFolder(t);
  const data = join(folder, 'data');
  mkdirSync(join(folder, 'backups'));
  const run = (word: string, ...replaced: readonly (readonly [string, string])[]) => {
    const [script = ''] = fencesOf(markdown, `sh ${word}`);
    assert.notEqual(script, '');
    const places = [['/var/lib/probelet', data] as const, ['/var/backups', join(folder, 'backups')] as const];
    const adapted = [...places, ...replaced].reduce((text, [from, to]) => text.replaceAll(from, to), script);
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
    execFileSync('bash', ['-euc', adapted], { env: { ...process.env, PATH }, stdio: ['ignore', 'ignore', 'inherit'] });
  };
  const start = () => startProduct(['--port', '0', '--data-dir', data]);
  const restartsOf = async (url: string) => {
    type Shown = { readonly status: { readonly containerStatuses: readonly { readonly restartCount: number }[] } };
    return (await askApi<Shown>(url, 'GET', targetPath('kept'))).body.status.containerStatuses[0]?.restartCount;
  };

  const first = await start();
  t.after(() => first.stop());
  await register(first.url, 'kept', { host: '127.0.0.1', livenessProbe: { tcpSocket: { port: first.port } } });
  await askApi(first.url, 'POST', `${targetPath('kept')}/restarted`);
  await until('the restart is counted', patience, async () => (await restartsOf(first.url)) === 1);
  run('backup');
  copyFileSync(join(data, 'probelet.sqlite'), join(folder, 'copy.sqlite'));
  const sizes = [join(folder, 'copy.sqlite'), join(folder, 'backups/probelet.sqlite')].map(
    (path) => readFileSync(path).length,
  );
  assert.ok((sizes[0] ?? 0) < (sizes[1] ?? 0), 'what is new is in the write-ahead log');
  await askApi(first.url, 'DELETE', `${targetPath('kept')}?gracePeriodSeconds=0`);
  await until(
    'it is deleted',
    patience,
    async () => (await askApi(first.url, 'GET', targetPath('kept'))).status === 404,
  );
  await first.stop();
  assert.ok(!existsSync(join(data, 'probelet.sqlite-wal')), 'a process that has stopped in order leaves no log');

  run('restore', [' -o probelet -g probelet', ''], ['systemctl', ': systemctl']);
  const second = await start();
  t.after(() => second.stop());
  assert.equal(await restartsOf(second.url), 1);
});
