import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { hangContract } from '../contract/hangs.ts';
import { storeContract } from '../contract/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { testsIn } from '../support/tests-in.ts';

const folder = temporaryFolder();

let files = 0;
const newPath = (): string => {
  files += 1;
  return join(folder, `${files}.db`);
};

const opened = (path: string) => {
  const store = sqliteStore({ path });
  return { store, close: () => store.close() };
};

storeContract('SQLite, a file', () => opened(newPath()));
storeContract('SQLite in memory', () => opened(':memory:'));
hangContract('SQLite', () => opened(':memory:'));

const item = { pk: 'p', sk: 's', x: 1 };

const atNewPath = testsIn(() => newPath());

describe('the file', () => {
  atNewPath('keeps what was written when it is opened again', async (path) => {
    const first = sqliteStore({ path });
    await first.write([{ kind: 'put', item }], { token: 'a' });
    first.close();
    const second = sqliteStore({ path });
    assert.deepEqual(await second.get(item), item);
    second.close();
  });

  atNewPath('keeps what was answered when the process is killed', async (path) => {
    const module = new URL('../../shared/store/sqlite/sqlite.ts', import.meta.url).href;
    const script = `
      const { sqliteStore } = await import(${JSON.stringify(module)});
      const store = sqliteStore({ path: ${JSON.stringify(path)} });
      await store.write([{ kind: 'put', item: ${JSON.stringify(item)} }], { token: 'a' });
      process.kill(process.pid, 'SIGKILL');`;
    assert.throws(() => execFileSync(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'pipe' }));
    const store = sqliteStore({ path });
    assert.deepEqual(await store.get(item), item);
    store.close();
  });

  atNewPath('knows a repetition also after it was opened again', async (path) => {
    for (let opening = 0; opening < 2; opening += 1) {
      const store = sqliteStore({ path });
      await store.write([{ kind: 'update', key: { pk: 'p', sk: 's' }, add: { x: 1 } }], { token: 'a' });
      assert.equal((await store.get(item))?.x, 1);
      store.close();
    }
  });

  const newer = /schema version 99; this release knows up to 1: use a newer one/;
  for (const [what, sql, says] of [
    ['of a newer release', 'PRAGMA user_version = 99', newer],
    ['that is the database of another product', 'CREATE TABLE theirs (x)', /not a store of this product/],
  ] as const)
    atNewPath(`${what} is refused`, (path) => {
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
      assert.throws(() => sqliteStore({ path }), says);
    });

  atNewPath('that is no database is refused', (path) => {
    writeFileSync(path, 'metadata: { name: checkout }\n'.repeat(100));
    assert.throws(() => sqliteStore({ path }), /is not a database/);
  });

  test('in a folder that does not exist is unavailable', () =>
    assert.throws(() => sqliteStore({ path: join(folder, 'missing', 'x.db') }), StoreUnavailable));

  atNewPath('that another process holds is unavailable, and nothing was applied', async (path) => {
    const store = sqliteStore({ path });
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await assert.rejects(store.write([{ kind: 'put', item }], { token: 'a' }), StoreUnavailable);
    other.exec('ROLLBACK');
    other.close();
    assert.equal(await store.get(item), undefined);
    assert.deepEqual(await store.write([{ kind: 'put', item }], { token: 'a' }), { kind: 'written' });
    store.close();
  });
});

test('a sweep removes what has expired, at most so many at a time', async () => {
  const store = sqliteStore({ path: ':memory:' });
  const expiries = [10, 20, 30, 'never', undefined];
  for (const [index, expiresAt] of expiries.entries())
    await store.write([{ kind: 'put', item: { pk: 'p', sk: `${index}`, expiresAt } }], { token: `${index}` });
  assert.equal(store.sweep(9_999, 10), 0);
  assert.equal(store.sweep(21_000, 1), 1);
  assert.equal(store.sweep(21_000, 10), 1);
  assert.equal(store.sweep(21_000, 10), 0);
  const kept = (await store.query({ pk: 'p' })).map((one) => one.sk);
  assert.deepEqual(kept, ['2', '3', '4']);
  store.close();
});
