/** Finds the files that the entries of `targets` name. */
import type { BigIntStats, Dirent } from 'node:fs';
import { glob, stat } from 'node:fs/promises';
import { dirname, matchesGlob, relative, resolve, sep } from 'node:path';
import type { TargetFiles } from '../../../shared/config/config-schema.ts';
import { readFault } from '../../../shared/lib/bounded-file.ts';
import { codeOf } from '../../../shared/lib/error-code.ts';
import { fileBytesMax } from '../../../shared/manifest/limits.ts';

/** A file that exists. */
export type ConfigSource = {
  /** Relative to the folder of the configuration, with `/`. */
  readonly name: string;
  readonly path: string;
  readonly entry: TargetFiles;
  /** Folders that the configuration names: its own, and that of the file or pattern. */
  readonly folders: readonly string[];
  /** Differs if the file or its entry has changed. */
  readonly signature: string;
};

export type SourceFault = { readonly file: string; readonly detail: string };

export type ConfigSources = {
  /** By name, in order. */
  readonly files: readonly ConfigSource[];
  readonly faults: readonly SourceFault[];
  /** Whether the file may exist although it was not found, so that its targets stay. */
  readonly mayExist: (name: string) => boolean;
  /** Where a change may add, remove or replace one of the files. */
  readonly folders: readonly string[];
};

/** The calls of `node:fs/promises` that find files. */
export type FileSearch = {
  readonly stat: (path: string) => Promise<BigIntStats>;
  readonly glob: (pattern: string, folder: string) => AsyncIterable<Dirent>;
};

const diskSearch: FileSearch = {
  stat: (path) => stat(path, { bigint: true }),
  glob: (pattern, folder) => glob(pattern, { cwd: folder, withFileTypes: true }),
};

/** Limits of one configuration. */
const filesMax = 1_000;
const bytesMax = 64 * 1024 * 1024;

/** Never throws: what cannot be read is a fault. Of several entries that name a file the first one counts. */
export async function configSources(
  folder: string,
  entries: readonly TargetFiles[],
  fileSearch = diskSearch,
): Promise<ConfigSources> {
  const search = new Search(folder, fileSearch);
  for (const entry of entries)
    for (const pattern of entry.files) {
      if (isGlob(pattern)) await search.addGlob(pattern, entry);
      else await search.addFile(pattern, entry);
    }
  return search.result();
}

/** Whether it is the version that was found. */
export async function isStill({ path, entry, signature }: ConfigSource, fileSearch = diskSearch): Promise<boolean> {
  const stats = await fileSearch.stat(path).catch(readFault);
  return typeof stats !== 'string' && signatureOf(stats, entry) === signature;
}

const signatureOf = (stats: BigIntStats, { namespace, host }: TargetFiles): string =>
  JSON.stringify([fileVersion(stats), namespace, host]);

/** Differs once a file has been changed or replaced. */
export const fileVersion = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(' ');

const isGlob = (pattern: string): boolean => /[*?[{]/.test(pattern);

class Search {
  readonly #folder: string;
  readonly #disk: FileSearch;
  readonly #files = new Map<string, ConfigSource>();
  readonly #faults: SourceFault[] = [];
  readonly #unread: string[] = [];
  readonly #folders: Set<string>;
  #bytes = 0;

  constructor(folder: string, disk: FileSearch) {
    this.#folder = folder;
    this.#disk = disk;
    this.#folders = new Set([folder]);
  }

  /** `base`: the folder that the pattern names. */
  async addFile(given: string, entry: TargetFiles, base?: string): Promise<void> {
    const { name, path } = this.#placed(given);
    if (this.#files.has(name)) return;
    this.#folders.add(dirname(path));
    const stats = await this.#disk.stat(path).catch(readFault);
    const detail = typeof stats === 'string' ? stats : this.#refusal(stats);
    if (typeof stats === 'string' || detail !== undefined) {
      this.#fault(name, detail ?? '', name);
      return;
    }
    this.#bytes += Number(stats.size);
    const signature = signatureOf(stats, entry);
    const folders = [this.#folder, base ?? dirname(path)];
    this.#files.set(name, { name, path, entry, folders, signature });
  }

  /** Names that begin with a full stop are no match, so that versions that a mount keeps beside its files are none. */
  async addGlob(pattern: string, entry: TargetFiles): Promise<void> {
    const base = resolve(this.#folder, staticPart(pattern));
    this.#folders.add(base);
    const stats = await this.#disk.stat(base).catch(readFault);
    if (typeof stats === 'string' || !stats.isDirectory()) {
      this.#fault(pattern, `there is no folder ${base}`, this.#placed(pattern).name);
      return;
    }
    try {
      const found = this.#disk.glob(pattern, this.#folder);
      for await (const each of found) {
        if (!each.isDirectory()) await this.addFile(resolve(this.#folder, each.parentPath, each.name), entry, base);
        if (this.#files.size < filesMax) continue;
        this.#fault(pattern, tooManyFiles, this.#placed(pattern).name);
        break;
      }
    } catch (error) {
      this.#fault(pattern, `cannot be searched (${codeOf(error)})`, this.#placed(pattern).name);
    }
  }

  result(): ConfigSources {
    return {
      files: [...this.#files.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      faults: this.#faults,
      mayExist: (name) => this.#unread.some((pattern) => pattern === name || matchesGlob(name, pattern)),
      folders: [...this.#folders],
    };
  }

  #placed(given: string): Pick<ConfigSource, 'name' | 'path'> {
    const path = resolve(this.#folder, given);
    return { path, name: relative(this.#folder, path).split(sep).join('/') };
  }

  #fault(file: string, detail: string, unread: string): void {
    this.#faults.push({ file, detail });
    this.#unread.push(unread);
  }

  #refusal(stats: BigIntStats): string | undefined {
    if (stats.isDirectory()) return 'is a folder: name its files, as in folder/*.yaml';
    if (!stats.isFile()) return 'is not a regular file';
    if (stats.size > fileBytesMax) return `has more than ${fileBytesMax} bytes`;
    if (this.#files.size >= filesMax) return tooManyFiles;
    if (this.#bytes + Number(stats.size) > bytesMax) return `is too much: all files may have ${bytesMax} bytes`;
    return undefined;
  }
}

const tooManyFiles = `is beyond the ${filesMax} files that a configuration may have`;

/** The folders before the first part with a wildcard. */
function staticPart(pattern: string): string {
  const parts = pattern.split('/');
  const fixed = parts.slice(0, Math.max(0, parts.findIndex(isGlob)));
  return fixed.length === 1 && fixed[0] === '' ? '/' : fixed.join('/');
}
