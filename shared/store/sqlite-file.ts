/** The SQLite file itself: opening, schema version, error codes. */
import { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from './store.ts';

/** Grows with each change of the table; a file of a higher one belongs to a newer release. */
const schemaVersion = 1;

/** How long a statement waits for another process that holds the file. */
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

/** @throws Error for a file of a newer schema or one that is no store; StoreUnavailable when it cannot be opened. */
export function openDatabase(path: string): DatabaseSync {
  const database = withUnavailable(() => new DatabaseSync(path, { timeout: busyTimeoutMs }));
  try {
    withUnavailable(() => prepareFile(database, path));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** FULL: a commit that was answered survives a power cut, which WAL alone does not promise. */
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
const notADatabase = 26;
/** BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN: the file, not the statement. */
const unavailableCodes: ReadonlySet<number> = new Set([5, 6, 8, 10, 13, 14]);

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/** Runs `body`; trouble with the file becomes StoreUnavailable. A transaction that fails is rolled back, so nothing was applied. */
export function withUnavailable<Answer>(body: () => Answer): Answer {
  try {
    return body();
  } catch (error) {
    const code = primaryCode(error);
    if (code === undefined || !unavailableCodes.has(code)) throw error;
    throw new StoreUnavailable(`SQLite result code ${code}`, { cause: error });
  }
}
