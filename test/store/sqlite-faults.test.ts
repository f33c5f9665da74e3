/**
 * What a file does when its disk is full, read-only, damaged or slow: the port's outcomes, nothing half written, and
 * words that say what to do.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { type SqliteStore, sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import { type Operation, StoreUnavailable } from '../../shared/store/store.ts';
import { shardWorld } from '../support/shard-world.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { testsIn } from '../support/tests-in.ts';

const folder = temporaryFolder();

let files = 0;
const newPath = (): string => {
  files += 1;
  return join(folder, `${files}.db`);
};

/** A store and the connection behind it, on which SQLite itself makes the fault. */
function faultyStore(path: string): { readonly store: SqliteStore; readonly connection: DatabaseSync } {
  const { exec } = DatabaseSync.prototype;
  const connections = new Set<DatabaseSync>();
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
    connections.add(this);
    exec.call(this, sql);
  };
  try {
    const store = sqliteStore({ path });
    const [connection] = connections;
    assert.ok(connection);
    return { store, connection };
  } finally {
    DatabaseSync.prototype.exec = exec;
  }
}

const output = 'x'.repeat(20_000);
const puts = (count: number): readonly Operation[] =>
  Array.from({ length: count }, (_, index) => ({ kind: 'put', item: { pk: 'p', sk: `s${index}`, output } }));

type Fault = {
  readonly name: string;
  readonly begin: (connection: DatabaseSync) => void;
  readonly end: (connection: DatabaseSync) => void;
  readonly says: RegExp;
};

const faults: readonly Fault[] = [
  {
    name: 'a full disk',
    begin: (connection) => connection.exec('PRAGMA max_page_count = 20'),
    end: (connection) => connection.exec('PRAGMA max_page_count = 1000000'),
    says: /disk is full.*free some space/,
  },
  {
    name: 'a file that became read-only',
    begin: (connection) => connection.exec('PRAGMA query_only = 1'),
    end: (connection) => connection.exec('PRAGMA query_only = 0'),
    says: /read-only.*rights/,
  },
];

const unavailable = (path: string, says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StoreUnavailable, String(error));
  assert.ok(error.message.includes(path), error.message);
  assert.match(error.message, says);
  return true;
};

const atNewPath = testsIn(() => newPath());

/** The next COMMIT fails with this code of SQLite. */
function failNextCommit(connection: DatabaseSync, errcode: number): void {
  const { exec } = DatabaseSync.prototype;
  connection.exec = (sql: string) => {
    if (sql !== 'COMMIT') return exec.call(connection, sql);
    connection.exec = exec;
    throw Object.assign(new Error('the commit failed'), { errcode });
  };
}

describe('a commit that fails', () => {
  // SQLITE_IOERR_FSYNC
  atNewPath('with an I/O error may be in the file', async (path) => {
    const { store, connection } = faultyStore(path);
    failNextCommit(connection, 1_034);
    assert.deepEqual(await store.write(puts(2), { token: 'a' }), { kind: 'inDoubt' });
    assert.deepEqual(await store.write(puts(2), { token: 'a' }), { kind: 'written' });
    store.close();
  });

  // SQLITE_FULL
  atNewPath('because the disk is full is not in the file', async (path) => {
    const { store, connection } = faultyStore(path);
    failNextCommit(connection, 13);
    await assert.rejects(store.write(puts(2), { token: 'a' }), unavailable(path, /disk is full/));
    assert.deepEqual(await store.query({ pk: 'p' }), []);
    store.close();
  });
});

describe('the file', () => {
  for (const { name, begin, end, says } of faults) {
    atNewPath(`of ${name} takes nothing of a write, and all of it afterwards`, async (path) => {
      const { store, connection } = faultyStore(path);
      begin(connection);
      await assert.rejects(store.write(puts(10), { token: 'a' }), unavailable(path, says));
      assert.deepEqual(await store.query({ pk: 'p' }), []);
      end(connection);
      assert.deepEqual(await store.write(puts(10), { token: 'a' }), { kind: 'written' });
      assert.equal((await store.query({ pk: 'p' })).length, 10);
      store.close();
    });

    atNewPath(`of ${name} ends the run in doubt, and the failures are published afterwards`, async (path) => {
      const { store, connection } = faultyStore(path);
      const world = shardWorld({ wrapStore: () => store });
      await world.put('web', { containers: [{ name: 'web', readinessProbe: { tcpSocket: { port: 80 } } }] });
      const run = await world.run();
      await world.until(
        'the first result',
        async () => (await world.probe('web', 'web#readiness')).result === 'success',
      );
      begin(connection);
      // What has its place in the file already can still be changed on a full disk: no place is left for anything.
      connection.exec('PRAGMA query_only = 1');
      world.answer(() => 'failure');
      assert.equal((await world.clock.runUntil(run.ended)).kind, 'doubt');
      const again = await world.run();
      assert.equal((await world.clock.runUntil(again.ended)).kind, 'doubt');
      connection.exec('PRAGMA query_only = 0');
      end(connection);
      const next = await world.run();
      await world.until('the failure', async () => (await world.probe('web', 'web#readiness')).result === 'failure');
      assert.equal((await next.stop()).kind, 'handover');
      store.close();
    });
  }

  const filled = testsIn(async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await store.write(puts(50), { token: 'a' });
    store.close();
    return path;
  });

  filled('that is damaged in the middle is unavailable where it is read, and says so', async (path) => {
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(statSync(path).size / 2, 0xa5), 0, undefined, 16_384);
    closeSync(file);
    const store = sqliteStore({ path });
    await assert.rejects(store.query({ pk: 'p' }), unavailable(path, /damaged.*backup/));
    store.close();
  });

  filled('that lost its end is refused or unavailable, and says so', async (path) => {
    truncateSync(path, 3 * 4_096);
    await assert.rejects(
      async () => {
        const store = sqliteStore({ path });
        await store.query({ pk: 'p' }).finally(() => store.close());
      },
      unavailable(path, /damaged.*backup/),
    );
  });

  atNewPath('that another process holds for a moment is waited for', async (path) => {
    const store = sqliteStore({ path });
    const script = `
      const { DatabaseSync } = await import('node:sqlite');
      const other = new DatabaseSync(${JSON.stringify(path)});
      other.exec('BEGIN IMMEDIATE');
      console.log('held');
      setTimeout(() => other.exec('ROLLBACK'), 300);`;
    const other = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    await once(other.stdout, 'data');
    assert.deepEqual(await store.write(puts(1), { token: 'a' }), { kind: 'written' });
    store.close();
  });

  atNewPath('that another process holds is unavailable, and the error says so', async (path) => {
    const store = sqliteStore({ path });
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await assert.rejects(store.write(puts(1), { token: 'a' }), unavailable(path, /another process/));
    other.close();
    store.close();
  });

  test('on a disk that fails in the middle of writing is unavailable or in doubt, and has all of a write or nothing', () => {
    const path = newPath();
    const module = new URL('../../shared/store/sqlite/sqlite.ts', import.meta.url).href;
    const script = `
      const { sqliteStore } = await import(${JSON.stringify(module)});
      const store = sqliteStore({ path: ${JSON.stringify(path)} });
      const outcomes = [];
      for (let at = 0; at < 30; at += 1) {
        const operations = [0, 1, 2].map((part) => ({
          kind: 'put', item: { pk: 'p', sk: at + '/' + part, output: 'x'.repeat(20000) },
        }));
        const outcome = await store.write(operations, { token: 't' + at }).catch((error) => error);
        outcomes.push(outcome instanceof Error ? { kind: error(outcome) } : outcome);
      }
      function error({ name, message }) { return name + ': ' + message; }
      console.log(JSON.stringify(outcomes));`;
    // Every write beyond this many blocks fails (EFBIG), as on a disk that breaks.
    const limited = ['-c', 'ulimit -f 800; exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', script];
    const outcomes: readonly { readonly kind: string }[] = JSON.parse(
      execFileSync('/bin/sh', limited, { encoding: 'utf8' }),
    );
    const kinds = new Set(outcomes.map(({ kind }) => kind.replace(path, 'FILE')));
    const store = sqliteStore({ path });
    return store.query({ pk: 'p' }).then((items) => {
      store.close();
      outcomes.forEach(({ kind }, at) => {
        const found = items.filter(({ sk }) => sk.startsWith(`${at}/`)).length;
        const allowed = kind === 'written' ? [3] : kind === 'inDoubt' ? [0, 3] : [0];
        assert.ok(allowed.includes(found), `${kind}: ${found} items`);
      });
      assert.ok(kinds.has('written') && kinds.size > 1, [...kinds].join());
      for (const kind of kinds)
        assert.match(kind, /^written$|^inDoubt$|^StoreUnavailable: .*FILE.*(disk is full|cannot be read or written)/);
    });
  });
});

test('a file that cannot be opened is named, with what to look at', () => {
  const path = join(folder, 'missing', 'a.db');
  assert.throws(
    () => sqliteStore({ path }),
    ({ message }: Error) =>
      message.includes(`${path} cannot be opened (SQLITE_CANTOPEN): check that its folder is there`),
  );
});
