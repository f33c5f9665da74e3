/**
 * Makes the names in a folder durable. A file that was created or renamed is only found after a power loss once its
 * folder has been synced, whatever has been done with its content.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../../../shared/lib/error-code.ts';

/** Systems and mounts on which a folder cannot be opened or synced keep its names in their own way. */
const unsupported: ReadonlySet<string> = new Set(['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM']);

/** @throws an error of the disk */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (!unsupported.has(codeOf(error))) throw error;
  }
}

/** Of a folder that was just made, with those around it from `first` on. @throws an error of the disk */
export function syncMadeFolders(first: string, last: string): void {
  const top = dirname(resolve(first));
  for (let parent = dirname(resolve(last)); parent.startsWith(top); parent = dirname(parent)) {
    syncFolderNow(parent);
    if (parent === top) return;
  }
}

function syncFolderNow(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    if (!unsupported.has(codeOf(error))) throw error;
  }
}
