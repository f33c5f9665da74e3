/** Writes that wait at the same time share a transaction of the file, and nothing else. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe } from 'node:test';
import { groupWritesMax } from '../../shared/store/sqlite/groups.ts';
import { type ItemChange, sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import { type Operation, StoreUnavailable } from '../../shared/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { testsIn } from '../support/tests-in.ts';

const folder = temporaryFolder();
let files = 0;

type Changes = readonly ItemChange[] | 'inDoubt';

/** A store whose other connection sees what is committed. `changes`: those that `onWrite` was given. */
function grouped() {
  files += 1;
  const path = join(folder, `${files}.db`);
  const changes: Changes[] = [];
  const store = sqliteStore({ path, onWrite: (each) => changes.push(each) });
  const other = new DatabaseSync(path);
  /** Moves with each commit of another connection (sqlite.org/pragma.html#pragma_data_version). */
  const version = () => Number(other.prepare('PRAGMA data_version').get()?.data_version);
  const committed = () =>
    other
      .prepare('SELECT sk FROM items ORDER BY sk')
      .all()
      .map(({ sk }) => String(sk));
  version();
  return { path, store, changes, version, committed, other };
}

const inGroups = testsIn(() => grouped());

const put = (sk: string, more: object = {}): readonly Operation[] => [
  { kind: 'put', item: { pk: 'p', sk, ...more }, if: [{ kind: 'notExists' }] },
];
const add = (sk: string, attribute = 'n'): readonly Operation[] => [
  { kind: 'update', key: { pk: 'p', sk }, add: { [attribute]: 1 } },
];

describe('writes that are made at once', () => {
  inGroups('are committed together, and answered then', async ({ store, version, committed, changes }) => {
    const before = version();
    const writes = ['a', 'b', 'c'].map((sk) => store.write(put(sk), { token: sk }));
    assert.deepEqual([committed(), changes], [[], []]);
    const first = await Promise.race(writes);
    assert.deepEqual([first.kind, committed()], ['written', ['a', 'b', 'c']]);
    await Promise.all(writes);
    assert.equal(version(), before + 1);
    const stored = changes.map((each) => (each === 'inDoubt' ? each : each.map(({ after }) => after()?.sk)));
    assert.deepEqual(stored, [['a'], ['b'], ['c']]);
  });

  inGroups('are committed so many in a transaction', async ({ store, version }) => {
    const before = version();
    const count = groupWritesMax * 2 + 1;
    await Promise.all(Array.from({ length: count }, (_, at) => store.write(put(`${at}`), { token: `${at}` })));
    assert.equal((await store.query({ pk: 'p' })).length, count);
    assert.ok(version() > before);
  });

  inGroups('each see those before, and a refused one undoes only its own', async ({ store, committed }) => {
    const two = [...put('b'), ...put('a')];
    const outcomes = await Promise.all([
      store.write(put('a'), { token: '1' }),
      store.write(two, { token: '2' }),
      store.write(add('a'), { token: '3' }),
      store.write(put('c'), { token: '4' }),
    ]);
    const refusals = [{ index: 1, kind: 'condition', item: { pk: 'p', sk: 'a' } }];
    assert.deepEqual(outcomes, [
      { kind: 'written' },
      { kind: 'refused', refusals },
      { kind: 'written', item: { pk: 'p', sk: 'a', n: 1 } },
      { kind: 'written' },
    ]);
    assert.deepEqual(committed(), ['a', 'c']);
  });

  inGroups('do not suffer from a bug in one of them, which leaves nothing', async ({ store, committed }) => {
    await store.write(put('text', { n: 'x' }), { token: '0' });
    const large = { blob: 'x'.repeat(500_000) };
    const outcomes = await Promise.allSettled([
      store.write(put('a'), { token: '1' }),
      store.write(add('text'), { token: '2' }),
      store.write([...put('b'), ...put('large', large)], { token: '3' }),
      store.write(put('c'), { token: '4' }),
    ]);
    const said = outcomes.map((one) => (one.status === 'fulfilled' ? one.value.kind : String(one.reason)));
    assert.deepEqual([said[0], said[3]], ['written', 'written']);
    assert.match(said[1] ?? '', /attribute 'n' is not a number/);
    assert.match(said[2] ?? '', /item p large is over/);
    assert.deepEqual(committed(), ['a', 'c', 'text']);
  });

  inGroups('with the same token are one', async ({ store }) => {
    const remove: readonly Operation[] = [{ kind: 'delete', key: { pk: 'p', sk: 'a' }, if: [{ kind: 'exists' }] }];
    await Promise.all([1, 2, 3].map(() => store.write(add('a'), { token: 'add' })));
    assert.equal((await store.get({ pk: 'p', sk: 'a' }))?.n, 1);
    const removed = await Promise.all([1, 2].map(() => store.write(remove, { token: 'remove' })));
    assert.deepEqual(removed, [{ kind: 'written' }, { kind: 'written' }]);
    const others = await Promise.allSettled([add('b'), add('c')].map((each) => store.write(each, { token: 'both' })));
    assert.deepEqual(
      others.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
  });

  inGroups('are all unavailable where the file is, and none is half written', async ({ store, other, committed }) => {
    other.exec('BEGIN IMMEDIATE');
    const operations = [put('a'), put('b')];
    const outcomes = await Promise.allSettled(operations.map((each, at) => store.write(each, { token: `${at}` })));
    assert.ok(outcomes.every((one) => one.status === 'rejected' && one.reason instanceof StoreUnavailable));
    other.exec('ROLLBACK');
    assert.deepEqual(committed(), []);
    const again = await Promise.all(operations.map((each, at) => store.write(each, { token: `${at}` })));
    assert.deepEqual(again, [{ kind: 'written' }, { kind: 'written' }]);
  });

  inGroups('are committed by a close', async ({ store, committed }) => {
    const writes = ['a', 'b'].map((sk) => store.write(put(sk), { token: sk }));
    store.close();
    assert.deepEqual(await Promise.all(writes), [{ kind: 'written' }, { kind: 'written' }]);
    assert.deepEqual(committed(), ['a', 'b']);
  });

  inGroups('are kept, each that was answered, when the process is killed', ({ path, committed }) => {
    const module = new URL('../../shared/store/sqlite/sqlite.ts', import.meta.url).href;
    const script = `
      const { sqliteStore } = await import(${JSON.stringify(module)});
      const store = sqliteStore({ path: ${JSON.stringify(path)} });
      const write = async (sk) => {
        await store.write([{ kind: 'put', item: { pk: 'p', sk } }], { token: sk });
        if (sk === 'c') process.kill(process.pid, 'SIGKILL');
      };
      await Promise.all(['a', 'b', 'c'].map(write));`;
    assert.throws(() => execFileSync(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'pipe' }));
    assert.deepEqual(committed(), ['a', 'b', 'c']);
  });

  inGroups('on a disk that fails have all of a write or nothing', ({ path }) => {
    const module = new URL('../../shared/store/sqlite/sqlite.ts', import.meta.url).href;
    const script = `
      const { sqliteStore } = await import(${JSON.stringify(module)});
      const store = sqliteStore({ path: ${JSON.stringify(path)} });
      const outcomes = [];
      for (let round = 0; round < 10; round += 1)
        outcomes.push(...await Promise.all([0, 1, 2].map((one) => {
          const operations = [0, 1, 2].map((part) => ({
            kind: 'put', item: { pk: 'p', sk: [round * 3 + one, part].join('/'), output: 'x'.repeat(20000) },
          }));
          return store.write(operations, { token: [round, one].join() }).then(({ kind }) => kind, ({ name }) => name);
        })));
      console.log(JSON.stringify(outcomes));`;
    // Every write beyond this many blocks fails (EFBIG), as on a disk that breaks.
    const limited = ['-c', 'ulimit -f 800; exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', script];
    const outcomes: readonly string[] = JSON.parse(execFileSync('/bin/sh', limited, { encoding: 'utf8' }));
    const store = sqliteStore({ path });
    return store.query({ pk: 'p' }).then((items) => {
      store.close();
      outcomes.forEach((kind, at) => {
        const found = items.filter(({ sk }) => sk.startsWith(`${at}/`)).length;
        const allowed = kind === 'written' ? [3] : kind === 'inDoubt' ? [0, 3] : [0];
        assert.ok(allowed.includes(found), `${kind}: ${found} items`);
      });
      const kinds = new Set(outcomes);
      assert.ok(kinds.has('written') && kinds.size > 1, [...kinds].join());
    });
  });
});
