/** Opens the SQLite file and handles its schema version and error codes. */
import { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../store.ts';

/** Incremented with each change of the table. A file with a higher version belongs to a newer release. */
const schemaVersion = 1;

/** How long a statement waits for a lock that another process holds. */
const busyTimeoutMs = 1500;

const schema = `
  CREATE TABLE items (
    pk TEXT NOT NULL,
    sk TEXT NOT NULL,
    doc TEXT NOT NULL,
    expires_at REAL,
    PRIMARY KEY (pk, sk)
  ) STRICT;
  CREATE INDEX items_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;
`;

/** @throws Error if the file has a newer schema or is not a store; StoreUnavailable if it cannot be opened. */
export function openDatabase(path: string): DatabaseSync {
  const database = withUnavailable(path, () => new DatabaseSync(path, { timeout: busyTimeoutMs }));
  try {
    withUnavailable(path, () => prepareFile(database, path));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** `synchronous = FULL`, because WAL alone does not guarantee that an acknowledged commit survives a power failure. */
function prepareFile(database: DatabaseSync, path: string): void {
  requireStoreFile(database, path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN IMMEDIATE');
  const version = requireKnownVersion(database, path);
  if (version === 0) database.exec(`${schema} PRAGMA user_version = ${schemaVersion}`);
  database.exec('COMMIT');
}

function requireStoreFile(database: DatabaseSync, path: string): void {
  try {
    const version = requireKnownVersion(database, path);
    const tables = database.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE type = 'table'").get()?.n;
    if (version === 0 && tables !== 0) throw new Error(`${path} is a database, but not a store of this product`);
  } catch (error) {
    if (primaryCode(error) === notADatabase) throw new Error(`${path} is not a database`, { cause: error });
    throw error;
  }
}

function requireKnownVersion(database: DatabaseSync, path: string): number {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (version > schemaVersion)
    throw new Error(
      `${path} has schema version ${version}; this release knows up to ${schemaVersion}: use a newer one`,
    );
  return version;
}

/** SQLite's primary result codes (sqlite.org/rescode.html). */
const ioError = 10;
const notADatabase = 26;

/** Problems with the file and not the statement, each with a remedy for the operator. */
const problems: ReadonlyMap<number, (path: string) => string> = new Map([
  [5, (path) => `${path} is locked by another process (SQLITE_BUSY): stop that process`],
  [6, (path) => `${path} is locked (SQLITE_LOCKED)`],
  [8, (path) => `${path} is read-only (SQLITE_READONLY): give this process the rights to write it and its folder`],
  [ioError, (path) => `${path} cannot be read or written (SQLITE_IOERR): check its disk`],
  [11, (path) => `${path} is damaged (SQLITE_CORRUPT): stop this process and restore the file from a backup`],
  [13, (path) => `the disk is full, ${path} cannot grow (SQLITE_FULL): free some space`],
  [14, (path) => `${path} cannot be opened (SQLITE_CANTOPEN): check that its folder is there and may be written`],
  [notADatabase, (path) => `${path} is damaged (SQLITE_NOTADB): stop this process and restore the file from a backup`],
]);

/** Whether a commit failed with an I/O error. It may still be in the file for the next process that opens it. */
export const isIoError = (error: unknown): boolean => primaryCode(error) === ioError;

/** Whether the file is the problem, and not the statement: then no part of the transaction may be committed. */
export const isFileProblem = (error: unknown): boolean => problems.has(primaryCode(error) ?? 0);

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/**
 * Runs `body` and converts a problem with the file to StoreUnavailable. A failed transaction is rolled back, so nothing
 * was applied.
 */
export function withUnavailable<Answer>(path: string, body: () => Answer): Answer {
  try {
    return body();
  } catch (error) {
    throw asUnavailable(path, error);
  }
}

/** StoreUnavailable for a problem with the file; any other error as it is. */
export function asUnavailable(path: string, error: unknown): unknown {
  const problem = problems.get(primaryCode(error) ?? 0);
  return problem ? new StoreUnavailable(problem(path), { cause: error }) : error;
}

/** Bytes of the file that are in use, without those that are free for what comes. */
export function usedBytes(database: DatabaseSync): number {
  const pragma = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
}
