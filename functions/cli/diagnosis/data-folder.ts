/** Whether `probelet start` could keep its data in a folder. Looks only: nothing is made, opened or changed. */
import { constants } from 'node:fs';
import { access, lstat, realpath, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { dataFileNames } from '../../local/process/data-dir.ts';
import { DataDirUnusable, requireOwnFolder } from '../../local/process/own-files.ts';
import { type Finding, fail, failedFinding, ok, warn } from './finding.ts';

const MiB = 1024 * 1024;
/** A store of 20,000 targets has about 200 MB, and its log as much at times. */
const freeBytesEnough = 1024 * MiB;
const freeBytesMin = 64 * MiB;

/** @param given as `--data-dir` of `probelet start` */
export async function dataFolderFinding(given: string): Promise<Finding> {
  if (given === ':memory:') return ok('in memory: nothing is kept');
  const path = resolve(given);
  const found = await codeOr(() => realpath(path));
  if (found.code === 'ENOENT') return absentFinding(path);
  if (found.value === undefined) return fail(`${path} cannot be read (${found.code})`, 'correct its permissions');
  return (await unusable(found.value)) ?? spaceFinding(path, found.value);
}

/** Why an existing folder cannot be used; undefined: it can. */
async function unusable(folder: string): Promise<Finding | undefined> {
  if (!(await lstat(folder)).isDirectory())
    return fail(`${folder} is not a folder`, 'name another by --data-dir, or remove it');
  const { code } = await codeOr(() => access(folder, constants.R_OK | constants.W_OK | constants.X_OK));
  if (code !== undefined) return fail(`${folder} cannot be written (${code})`, 'correct its owner or its permissions');
  try {
    requireOwnFolder(folder);
  } catch (error) {
    if (error instanceof DataDirUnusable) return failedFinding(error);
    throw error;
  }
  for (const name of dataFileNames) {
    const fault = await unusableFile(join(folder, name));
    if (fault) return fault;
  }
  return undefined;
}

async function unusableFile(path: string): Promise<Finding | undefined> {
  const { value } = await codeOr(() => lstat(path));
  if (value === undefined) return undefined;
  if (!value.isFile()) return fail(`${path} is not a plain file`, 'remove it, or name another folder by --data-dir');
  const { code } = await codeOr(() => access(path, constants.R_OK | constants.W_OK));
  return code === undefined
    ? undefined
    : fail(`${path} cannot be written (${code})`, 'correct its owner or permissions');
}

async function absentFinding(path: string): Promise<Finding> {
  let parent = dirname(path);
  while ((await codeOr(() => lstat(parent))).code === 'ENOENT' && parent !== dirname(parent)) parent = dirname(parent);
  const { code } = await codeOr(() => access(parent, constants.W_OK | constants.X_OK));
  if (code !== undefined)
    return fail(
      `${path} cannot be made in ${parent} (${code})`,
      'name another by --data-dir, or correct its permissions',
    );
  return spaceFinding(`${path} (not there yet)`, parent);
}

async function spaceFinding(shown: string, folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  const space = `${shown}: ${Math.floor(freeBytes / MiB)} MiB free`;
  const next = 'make room, or name a folder of another disk by --data-dir';
  if (freeBytes < freeBytesMin) return fail(space, next);
  return freeBytes < freeBytesEnough ? warn(space, next) : ok(space);
}

type Answer<Value> = { readonly value?: Value; readonly code?: string };

async function codeOr<Value>(ask: () => Promise<Value>): Promise<Answer<Value>> {
  try {
    return { value: await ask() };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}
