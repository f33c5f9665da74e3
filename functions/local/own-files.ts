/**
 * Checks that files and folders can be changed by their owner only. It never opens an existing file, because closing it
 * would release SQLite's locks on it.
 */
import { chmodSync, closeSync, constants, lstatSync, openSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';

/** The folder cannot be used. The message gives the reason and a remedy. */
export class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable';
}

const othersMayWrite = 0o022;
/** Parent folders may be writable by a group, because many systems create a group for each user. */
const anybodyMayWrite = 0o002;
const othersMayReadOrWrite = 0o066;
const ownerReadsAndWrites = 0o600;
const sticky = 0o1000;
const superuser = 0;

/**
 * `folder` must be free of symlinks.
 * @throws DataDirUnusable if another user could change the folder's content or replace the folder.
 */
export function requireOwnFolder(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  if (!isOwn(uid))
    throw new DataDirUnusable(
      `${folder} belongs to another user (${uid}): choose another folder, or make it yours with chown`,
    );
  if ((mode & othersMayWrite) !== 0) throw writable(folder);
  for (let path = dirname(folder), below = folder; path !== below; below = path, path = dirname(path)) {
    const parent = lstatSync(path);
    if ((parent.mode & anybodyMayWrite) !== 0 && (parent.mode & sticky) === 0) throw writable(path);
  }
}

const writable = (folder: string) =>
  new DataDirUnusable(`others may write ${folder}: choose another folder, or close this one with chmod 700 ${folder}`);

/**
 * Returns the file's status after restricting its permissions to the owner; undefined if the file does not exist.
 * @throws DataDirUnusable if it is not a plain file that belongs to this user.
 */
export function requireOwnFile(path: string, { create = false } = {}): Stats | undefined {
  if (create) createIfMissing(path);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isFile()) throw new DataDirUnusable(`${path} is not a plain file (a symlink, for instance): remove it`);
  if (found.nlink > 1)
    throw new DataDirUnusable(`${path} has another name, too (a hard link): copy it and remove both`);
  if (!isOwn(found.uid)) throw new DataDirUnusable(`${path} belongs to another user (${found.uid}): remove it`);
  if (mayChange(found.uid) && (found.mode & othersMayReadOrWrite) !== 0) chmodSync(path, ownerReadsAndWrites);
  return found;
}

/** O_EXCL does not follow symlinks, and closing a new file releases no locks. */
function createIfMissing(path: string): void {
  try {
    closeSync(openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, ownerReadsAndWrites));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

export const sameFile = (before: Stats | undefined, now: Stats | undefined): boolean =>
  before !== undefined && before.ino === now?.ino && before.dev === now.dev;

const mayChange = (uid: number): boolean => uid === process.getuid?.();

/** Windows has no user ids. */
const isOwn = (uid: number): boolean => process.getuid === undefined || uid === process.getuid() || uid === superuser;
