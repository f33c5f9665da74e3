/**
 * Files that a power loss leaves whole. The content is there once the file has been synced; a file that was created or
 * renamed is only found once its folder has been synced, too.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../../../shared/lib/error-code.ts';

/** The mode of a file that its owner alone may read and write. */
export const ownerOnly = 0o600;

/** What `write` does to the file is on the disk in the end. @throws an error of the disk */
export async function writeSynced(
  path: string,
  flags: 'w' | 'r+',
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags, ownerOnly);
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names in a folder durable. @throws an error of the disk */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    requireUnsupported(error);
  }
}

/** The names of a folder that was just made, and of those around it from `first` on. @throws an error of the disk */
export function syncMadeFolders(first: string, last: string): void {
  const top = dirname(resolve(first));
  for (let parent = dirname(resolve(last)); parent.startsWith(top); parent = dirname(parent)) {
    try {
      const folder = openSync(parent, 'r');
      try {
        fsyncSync(folder);
      } finally {
        closeSync(folder);
      }
    } catch (error) {
      requireUnsupported(error);
    }
    if (parent === top) return;
  }
}

/** Systems and mounts on which a folder cannot be opened or synced keep its names in their own way. */
const unsupported: ReadonlySet<string> = new Set(['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM']);

function requireUnsupported(error: unknown): void {
  if (!unsupported.has(codeOf(error))) throw error;
}
