/** The data folder, held by one process at a time: two on one file would fence each other off in turn. Only its owner may read or change it. */
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DataDirUnusable, requireOwnFile, requireOwnFolder, sameFile } from './own-files.ts';

export { DataDirUnusable } from './own-files.ts';

export type DataDir = { readonly storePath: string; readonly release: () => void };

const inMemory = ':memory:';
const ownerOnly = 0o700;
const storeName = 'probelet.sqlite';
const lockName = 'lock.sqlite';
/** What SQLite keeps beside a database. It gives them the database's own permissions. */
const besides = ['-wal', '-shm', '-journal'];

/** Creates the folder if it is missing. The locks are SQLite's: the kernel drops them with the process, however that ends. */
export function holdDataDir(given: string): DataDir {
  if (given === inMemory) return { storePath: inMemory, release: () => {} };
  try {
    mkdirSync(given, { recursive: true, mode: ownerOnly });
    const folder = realpathSync(given);
    requireOwnFolder(folder);
    const storePath = join(folder, storeName);
    for (const beside of besides)
      for (const name of [storeName, lockName]) requireOwnFile(join(folder, `${name}${beside}`));
    const release = lock(join(folder, lockName));
    try {
      requireOwnFile(storePath, { create: true });
      requireClosed(storePath);
      return { storePath, release };
    } catch (error) {
      release();
      throw error;
    }
  } catch (cause) {
    throw new DataDirUnusable(`cannot use the data folder ${given}: ${reasonOf(cause)}`, { cause });
  }
}

/** A lock on a file that has been deleted meanwhile is worth nothing: the next process would lock another file of that name. */
function lock(path: string): () => void {
  const before = requireOwnFile(path, { create: true });
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    if (!sameFile(before, requireOwnFile(path)))
      throw new DataDirUnusable(`${path} was replaced meanwhile; start again`);
  } catch (error) {
    database.close();
    throw error;
  }
  return () => database.close();
}

/** How long another program may have the store open that only looks into it. */
const readersMsMax = 1_500;
const readersRestMs = 25;

/** Whoever has the store open holds SQLite's shared lock on it, whatever has become of the lock file. */
function requireClosed(storePath: string): void {
  const endMs = performance.now() + readersMsMax;
  while (isOpenElsewhere(storePath)) {
    if (performance.now() > endMs) throw new DataDirUnusable(`${storePath} is open in another process: stop that one`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, readersRestMs);
  }
}

/** Every other problem with the store is told where it is opened for use. */
function isOpenElsewhere(storePath: string): boolean {
  const database = new DatabaseSync(storePath, { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK');
    return false;
  } catch (error) {
    return isBusy(error);
  } finally {
    database.close();
  }
}

/** SQLite's code for a file that another connection has locked. */
const busy = 5;

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && error.errcode === busy;

function reasonOf(cause: unknown): string {
  if (isBusy(cause)) return 'another process holds it; stop that one or choose another folder with --data-dir';
  return cause instanceof Error ? cause.message : String(cause);
}
