/** The file system's events about a folder: hints only, since some are lost. */
import { watch } from 'node:fs';

export type FolderWatch = { close(): void };

/** Returns undefined for a folder that cannot be watched. */
export function watchFolder(folder: string, onChange: () => void): FolderWatch | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    return watcher.on('error', () => watcher.close());
  } catch {
    return undefined;
  }
}
