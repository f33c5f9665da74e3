/**
 * Checks that files and folders can be changed by their owner only. It never opens an existing file, because closing it
 * would release SQLite's locks on it.
 */
import { chmodSync, closeSync, constants, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs';
import { join, parse, resolve, sep } from 'node:path';
import { ownerOnly } from './durable-file.ts';

/** The folder cannot be used. The message gives the reason and a remedy. */
export class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable';
}

const othersMayWrite = 0o022;
/** Parent folders may be writable by a group, because many systems create a group for each user. */
const writableByOthers = 0o002;
const othersMayReadOrWrite = 0o066;
const sticky = 0o1000;
const superuser = 0;

/**
 * `folder` must be free of symlinks.
 * @throws DataDirUnusable if another user could change the folder's content.
 */
export function requireOwnFolder(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  if (!isOwn(uid)) throw foreign(folder, uid, 'choose another folder, or make it yours with chown');
  if ((mode & othersMayWrite) !== 0) throw writable(folder);
}

/** As many as Linux follows. */
const linksMax = 40;

/**
 * Checks every folder and every symlink on the way to `folder`, of which the last ones may be missing.
 * @throws DataDirUnusable if another user could lead the way elsewhere, by a link or by renaming a folder.
 */
export function requireOwnWay(folder: string): void {
  const start = resolve(folder);
  const { root } = parse(start);
  let names = start.slice(root.length).split(sep);
  let at = root;
  for (let links = 0; names.length > 0; ) {
    const [name = '', ...rest] = names;
    const path = join(at, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return;
    if (!found.isSymbolicLink()) {
      if (rest.length > 0) requireOwnParent(path, found);
      [at, names] = [path, rest];
      continue;
    }
    links += 1;
    if (links > linksMax) throw new DataDirUnusable(`${folder} leads through more than ${linksMax} symlinks`);
    if (!isOwn(found.uid)) throw foreign(path, found.uid, 'choose a folder that no link of another user leads to');
    const target = resolve(at, readlinkSync(path));
    [at, names] = [root, [...target.slice(root.length).split(sep), ...rest].filter((part) => part !== '')];
  }
}

/** The owner of a folder may rename what is in it. */
function requireOwnParent(path: string, { uid, mode }: Stats): void {
  if (!isOwn(uid)) throw foreign(path, uid, 'choose a folder that is not inside it');
  if ((mode & writableByOthers) !== 0 && (mode & sticky) === 0) throw writable(path);
}

const foreign = (path: string, uid: number, remedy: string) =>
  new DataDirUnusable(`${path} belongs to another user (${uid}): ${remedy}`);

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
  if (!isOwn(found.uid)) throw foreign(path, found.uid, 'remove it');
  if (mayChange(found.uid) && (found.mode & othersMayReadOrWrite) !== 0) chmodSync(path, ownerOnly);
  return found;
}

/** O_EXCL does not follow symlinks, and closing a new file releases no locks. */
function createIfMissing(path: string): void {
  try {
    closeSync(openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, ownerOnly));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

export const sameFile = (before: Stats | undefined, now: Stats | undefined): boolean =>
  before !== undefined && before.ino === now?.ino && before.dev === now.dev;

const mayChange = (uid: number): boolean => uid === process.getuid?.();

/** Windows has no user ids. */
const isOwn = (uid: number): boolean => process.getuid === undefined || uid === process.getuid() || uid === superuser;
