/**
 * The data folder. One process at a time may hold it, because two on one file would fence each other off in turn. Only
 * its owner may read or change it.
 */
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { newFile, reserveFile } from '../alerts/alert-file.ts';
import { syncMadeFolders } from './durable-file.ts';
import { DataDirUnusable, requireOwnFile, requireOwnFolder, requireOwnWay, sameFile } from './own-files.ts';

export type DataDir = {
  readonly storePath: string;
  /** Absent: nothing is kept. */
  readonly alertsPath?: string;
  readonly release: () => void;
};

const inMemory = ':memory:';
const ownerOnlyFolder = 0o700;
const storeName = 'probelet.sqlite';
const lockName = 'lock.sqlite';
const alertsName = 'alerts.json';
/** What a folder may hold already. */
export const dataFileNames: readonly string[] = [storeName, lockName, alertsName];
/** SQLite's additional files for a database. It gives them the database's permissions. */
const besides = ['-wal', '-shm', '-journal'];

/**
 * Creates the folder if it is missing. The locks are SQLite's, so the kernel releases them when the process ends, even
 * if it crashes.
 */
export function holdDataDir(given: string): DataDir {
  if (given === inMemory) return { storePath: inMemory, release: () => {} };
  try {
    requireOwnWay(given);
    const first = mkdirSync(given, { recursive: true, mode: ownerOnlyFolder });
    if (first !== undefined) syncMadeFolders(first, given);
    const folder = realpathSync(given);
    requireOwnFolder(folder);
    const storePath = join(folder, storeName);
    for (const beside of besides)
      for (const name of [storeName, lockName]) requireOwnFile(join(folder, `${name}${beside}`));
    const alertsPath = join(folder, alertsName);
    for (const beside of ['', newFile, reserveFile]) requireOwnFile(`${alertsPath}${beside}`);
    const release = lock(join(folder, lockName));
    try {
      requireOwnFile(storePath, { create: true });
      requireClosed(storePath);
      return { storePath, alertsPath, release };
    } catch (error) {
      release();
      throw error;
    }
  } catch (cause) {
    throw new DataDirUnusable(`cannot use the data folder ${given}: ${reasonOf(cause)}`, { cause });
  }
}

/**
 * How long to try for the lock. Of two processes that ask at the same instant, each may see the lock of the other's
 * attempt, so a first refusal does not show that a process holds the folder.
 */
const lockMsMax = 250;

/** Fails if the lock file was replaced meanwhile: the next process would lock a different file of the same name. */
function lock(path: string): () => void {
  const before = requireOwnFile(path, { create: true });
  const database = new DatabaseSync(path, { timeout: lockMsMax });
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

/** How long another program may keep the store open for reading. */
const readersMsMax = 1_500;
const readersRestMs = 25;

/** A process that has the store open holds SQLite's shared lock on it, whatever happened to the lock file. */
function requireClosed(storePath: string): void {
  const endMs = performance.now() + readersMsMax;
  while (isOpenElsewhere(storePath)) {
    if (performance.now() > endMs) throw new DataDirUnusable(`${storePath} is open in another process: stop that one`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, readersRestMs);
  }
}

/** Other problems with the store are reported when it is opened for use. */
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

/** SQLITE_BUSY: another connection has locked the file. */
const busy = 5;

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && error.errcode === busy;

function reasonOf(cause: unknown): string {
  if (isBusy(cause)) return 'another process holds it; stop that one or choose another folder with --data-dir';
  return cause instanceof Error ? cause.message : String(cause);
}
