/** The data folder, held by one process at a time: two on one file would fence each other off in turn. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type DataDir = { readonly storePath: string; readonly release: () => void };

/** The folder cannot be used; the message says why and what to do. */
export class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable';
}

const inMemory = ':memory:';

/** Creates the folder if it is missing. The lock is SQLite's, on a file of its own: the kernel drops it with the process, however that ends. */
export function holdDataDir(folder: string): DataDir {
  if (folder === inMemory) return { storePath: inMemory, release: () => {} };
  try {
    mkdirSync(folder, { recursive: true });
    const lock = new DatabaseSync(join(folder, 'lock.sqlite'), { timeout: 0 });
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return { storePath: join(folder, 'probelet.sqlite'), release: () => lock.close() };
  } catch (cause) {
    throw new DataDirUnusable(`cannot use the data folder ${folder}: ${reasonOf(cause)}`, { cause });
  }
}

/** SQLite's code for a file that another connection has locked. */
const busy = 5;

function reasonOf(cause: unknown): string {
  if (cause instanceof Error && 'errcode' in cause && cause.errcode === busy) {
    return 'another process holds it; stop that one or choose another folder with --data-dir';
  }
  return cause instanceof Error ? cause.message : String(cause);
}
