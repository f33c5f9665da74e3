/** Files and folders that nobody but their owner may change. A file is never opened here: closing it would drop SQLite's locks on it. */
import { chmodSync, closeSync, constants, lstatSync, openSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';

/** The folder cannot be used; the message says why and what to do. */
export class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable';
}

const othersMayWrite = 0o022;
/** In a folder above, a group is trusted: many systems give each user a group of its own, and its folders to that. */
const anybodyMayWrite = 0o002;
const othersMayReadOrWrite = 0o066;
const ownerReadsAndWrites = 0o600;
const sticky = 0o1000;
const superuser = 0;

/** @throws DataDirUnusable when another user could change what is in the folder, or put another one in its place. `folder`: without symlinks. */
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
 * What is there, closed to other users; undefined if nothing is there.
 * @throws DataDirUnusable for what is no plain file of its own.
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

/** O_EXCL follows no symlink, and a file that is new has no locks yet. */
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

/** On Windows nobody has a number. */
const isOwn = (uid: number): boolean => process.getuid === undefined || uid === process.getuid() || uid === superuser;
