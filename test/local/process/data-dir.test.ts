/** Who may have the data folder: one process, whose owner alone can read and change it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { type DataDir, holdDataDir } from '../../../functions/local/process/data-dir.ts';
import { DataDirUnusable } from '../../../functions/local/process/own-files.ts';
import { type SqliteStore, sqliteStore } from '../../../shared/store/sqlite/sqlite.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { testsIn } from '../../support/tests-in.ts';

const parent = temporaryFolder();
let folders = 0;
const fresh = () => join(parent, `${++folders}`);
const modeOf = (path: string) => (fs.statSync(path).mode & 0o7777).toString(8);

const held: { close(): void }[] = [];
function letGo(): void {
  for (const each of held.splice(0).reverse()) each.close();
}
afterEach(letGo);

function hold(folder: string): DataDir & { readonly store: SqliteStore } {
  const dataDir = holdDataDir(folder);
  held.push({ close: dataDir.release });
  const store = sqliteStore({ path: dataDir.storePath });
  held.push(store);
  return { ...dataDir, store };
}

const refused = (folder: string, why: RegExp) =>
  assert.throws(
    () => hold(folder),
    (error) => {
      assert.ok(error instanceof DataDirUnusable, String(error));
      assert.match(error.message, why);
      assert.ok(error.message.includes(folder));
      return true;
    },
  );

const inFolder = testsIn(() => fresh());

describe('permissions', () => {
  for (const umask of [0o000, 0o022, 0o077])
    test(`a new folder and all of its files are the owner's alone, whatever the umask (${umask.toString(8)})`, () => {
      const before = process.umask(umask);
      try {
        const folder = join(fresh(), 'below');
        hold(folder);
        assert.equal(modeOf(folder), '700');
        const names = fs.readdirSync(folder);
        assert.ok(names.length >= 2);
        for (const name of names) assert.equal(modeOf(join(folder, name)), '600', name);
      } finally {
        process.umask(before);
      }
    });
  inFolder('files that others could read are closed to them', (folder) => {
    hold(folder);
    letGo();
    for (const name of ['alerts.json', 'alerts.json.new', 'alerts.json.reserve'])
      fs.writeFileSync(join(folder, name), '{}');
    for (const name of fs.readdirSync(folder)) fs.chmodSync(join(folder, name), 0o666);
    hold(folder);
    for (const name of fs.readdirSync(folder)) assert.equal(modeOf(join(folder, name)), '600', name);
  });
  for (const mode of [0o777, 0o770, 0o702, 0o1777])
    inFolder(`a folder of mode ${mode.toString(8)} is refused, and says what to do`, (folder) => {
      fs.mkdirSync(folder);
      fs.chmodSync(folder, mode);
      refused(folder, /others may write.*chmod 700/);
      assert.deepEqual(fs.readdirSync(folder), []);
    });
  inFolder('a folder that others may read is taken', (folder) => {
    fs.mkdirSync(folder, { mode: 0o755 });
    hold(folder);
  });
  inFolder('a folder below one that anybody may change is refused', (open) => {
    fs.mkdirSync(join(open, 'data'), { recursive: true });
    fs.chmodSync(open, 0o777);
    refused(join(open, 'data'), /others may write/);
  });
  test('a folder or a store of another user is refused', (t) => {
    if (process.getuid?.() !== 0) return t.diagnostic('only the superuser can make one');
    const folder = fresh();
    fs.mkdirSync(folder);
    fs.chownSync(folder, 65_534, 65_534);
    refused(folder, /another user/);
    const other = fresh();
    fs.mkdirSync(other);
    fs.writeFileSync(join(other, 'probelet.sqlite'), '');
    fs.chownSync(join(other, 'probelet.sqlite'), 65_534, 65_534);
    refused(other, /another user/);
  });
  for (const below of ['data', 'new/data'])
    test(`a folder inside that of another user is refused, which may put another in its place (${below})`, (t) => {
      if (process.getuid?.() !== 0) return t.diagnostic('only the superuser can make one');
      const theirs = fresh();
      fs.mkdirSync(theirs);
      if (below === 'data') fs.mkdirSync(join(theirs, below), { mode: 0o700 });
      fs.chownSync(theirs, 65_534, 65_534);
      const before = fs.readdirSync(theirs);
      refused(join(theirs, below), /belongs to another user/);
      assert.deepEqual(fs.readdirSync(theirs), before, 'nothing is made there');
    });
});

describe('links', () => {
  const stores = ['', '-wal', '-shm', '-journal'].map((ending) => `probelet.sqlite${ending}`);
  for (const name of [...stores, 'lock.sqlite', 'alerts.json', 'alerts.json.new', 'alerts.json.reserve'])
    for (const kind of ['symlink', 'dangling symlink', 'hard link', 'folder'] as const)
      inFolder(`${name} that is a ${kind} is refused, and what it points to stays as it is`, (folder) => {
        const victim = join(parent, `victim-${folders}`);
        fs.mkdirSync(folder);
        if (kind !== 'dangling symlink') fs.writeFileSync(victim, '', { mode: 0o644 });
        if (kind === 'folder') fs.mkdirSync(join(folder, name));
        else if (kind === 'hard link') fs.linkSync(victim, join(folder, name));
        else fs.symlinkSync(victim, join(folder, name));
        refused(folder, new RegExp(name));
        assert.equal(fs.existsSync(victim), kind !== 'dangling symlink');
        if (fs.existsSync(victim)) assert.deepEqual([modeOf(victim), fs.readFileSync(victim, 'utf8')], ['644', '']);
      });
  inFolder('a folder that is a symlink of its owner is taken', (folder) => {
    fs.mkdirSync(folder, { mode: 0o700 });
    fs.symlinkSync(folder, `${folder}-link`);
    hold(`${folder}-link`);
    refused(folder, /another process holds it/);
  });
});

describe('links on the way', () => {
  const kinds = ['to a folder', 'to a missing folder', 'above the folder', 'behind a link of the owner'] as const;
  for (const kind of kinds)
    test(`a link of another user ${kind} is refused, and nothing is made behind it`, (t) => {
      if (process.getuid?.() !== 0) return t.diagnostic('only the superuser can make one');
      const [shared, target] = [fresh(), fresh()];
      fs.mkdirSync(shared);
      fs.chmodSync(shared, 0o1777);
      if (kind !== 'to a missing folder') fs.mkdirSync(target, { mode: 0o700 });
      const link = join(shared, 'link');
      fs.symlinkSync(target, link);
      fs.lchownSync(link, 65_534, 65_534);
      const own = join(shared, 'own');
      if (kind === 'behind a link of the owner') fs.symlinkSync('link', own);
      refused(kind === 'above the folder' ? join(link, 'data') : fs.existsSync(own) ? own : link, /link of another/);
      assert.deepEqual(fs.existsSync(target) ? fs.readdirSync(target) : [], []);
    });
  inFolder('links of the owner that lead in a circle are refused', (folder) => {
    fs.symlinkSync(`${folder}-b`, `${folder}-a`);
    fs.symlinkSync(`${folder}-a`, `${folder}-b`);
    refused(join(`${folder}-a`, 'data'), /symlinks/);
  });
});

describe('the lock', () => {
  inFolder('is held by one at a time, and free once that one has left', (folder) => {
    hold(folder);
    refused(folder, /another process holds it/);
    refused(folder, /another process holds it/);
    letGo();
    hold(folder);
  });
  for (const [what, take] of Object.entries({
    deleted: (path: string) => fs.rmSync(path),
    renamed: (path: string) => fs.renameSync(path, `${path}.old`),
    replaced: (path: string) => {
      fs.writeFileSync(`${path}.new`, '', { mode: 0o600 });
      fs.renameSync(`${path}.new`, path);
    },
  }))
    inFolder(`holds though its file is ${what}`, (folder) => {
      hold(folder);
      take(join(folder, 'lock.sqlite'));
      refused(folder, /another process/);
    });
  inFolder('holds against another process, though its file is deleted', async (folder) => {
    hold(folder);
    fs.rmSync(join(folder, 'lock.sqlite'));
    assert.match((await others(1, folder)).join(), /another process/);
  });
  for (const name of ['lock.sqlite', 'probelet.sqlite'])
    inFolder(`is had though another process looks into ${name} for a moment`, async (folder) => {
      const path = join(folder, name);
      fs.mkdirSync(folder, { mode: 0o700 });
      fs.writeFileSync(path, '', { mode: 0o600 });
      const looking = new Worker(looks, { eval: true, workerData: path });
      await once(looking, 'message');
      hold(folder);
      await once(looking, 'exit');
    });
  for (const count of [2, 5])
    inFolder(`goes to one of ${count} processes that start at once`, async (folder) => {
      const said = await others(count, folder);
      assert.equal(said.filter((each) => each === 'held').length, 1, said.join());
    });
});

/** Holds SQLite's shared lock for a tenth of a second. */
const looks = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData } = require('node:worker_threads');
  const database = new DatabaseSync(workerData);
  database.exec('BEGIN; SELECT * FROM sqlite_master');
  parentPort.postMessage('looking');
  setTimeout(() => database.close(), 100);
`;

/** What each of so many other processes gets at the same time: the folder, or why not. */
async function others(count: number, folder: string): Promise<readonly string[]> {
  const holder = join(import.meta.dirname, 'data-dir-holder.ts');
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, [holder, folder], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const said = await Promise.all(children.map(async ({ stdout }) => String((await once(stdout, 'data'))[0])));
  for (const { stdin } of children) stdin.end();
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')));
  return said;
}
