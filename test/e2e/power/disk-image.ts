/**
 * A disk as POSIX promises it and no better. The bytes of a file are there after its `fsync`, the names in a folder
 * after that of the folder. What is not synced may be there, in parts, or not; names come in their order.
 */
import { dirname } from 'node:path';
import type { Random } from '../../../shared/lib/random.ts';
import type { DiskCall } from './traced-calls.ts';

/** By path. */
export type Image = ReadonlyMap<string, Buffer>;

type Change = { readonly at: number; readonly bytes: Buffer } | { readonly length: number };
type Content = { synced: Buffer; readonly pending: Change[] };
type Entry = Content | 'folder';
/** Of a name in a folder: what it is from now on; undefined: it is gone. */
type Naming = { readonly path: string; readonly entry: Entry | undefined };
type Opened = { readonly path: string; at: number };

const sectorBytes = 512;

export class TracedDisk {
  /** Everything else on the machine is left out. */
  readonly #root: string;
  readonly #opened = new Map<number, Opened>();
  readonly #names = new Map<string, Entry>();
  readonly #syncedNames = new Map<string, Entry>();
  #namings: readonly Naming[] = [];

  /** `root` is there and synced. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Whether the call may have changed the disk. */
  take(call: DiskCall): boolean {
    switch (call.kind) {
      case 'open':
        return this.#open(call);
      case 'close':
        this.#opened.delete(call.fd);
        return false;
      case 'write':
        return this.#write(call);
      case 'truncate':
        return this.#change(call.fd, { length: call.length });
      case 'sync':
        return this.#sync(call.fd);
      case 'rename':
        return this.#rename(call.from, call.to);
      case 'unlink':
        return this.#name(call.path, undefined);
      case 'mkdir':
        return this.#name(call.path, 'folder');
    }
  }

  /** Only what was synced. */
  least(): Image {
    return this.#image(this.#syncedNames, ({ synced }) => synced);
  }

  /** Everything, as after the end of the process alone. */
  most(): Image {
    return this.#image(this.#names, ({ synced, pending }) => pending.reduce(changed, synced));
  }

  /** Of what was not synced the first few names, and any part of the bytes. */
  some(random: Random): Image {
    const names = new Map(this.#syncedNames);
    for (const naming of this.#namings.slice(0, Math.floor(random.next() * (this.#namings.length + 1))))
      rename(names, naming);
    return this.#image(names, ({ synced, pending }) =>
      pending.flatMap((change) => partOf(change, random) ?? []).reduce(changed, synced),
    );
  }

  #image(names: ReadonlyMap<string, Entry>, bytes: (content: Content) => Buffer): Image {
    const isThere = (path: string): boolean =>
      path === this.#root || (names.get(path) === 'folder' && isThere(dirname(path)));
    return new Map(
      [...names].flatMap(([path, entry]) =>
        entry === 'folder' || !isThere(dirname(path)) ? [] : [[path, bytes(entry)] as const],
      ),
    );
  }

  #open({ fd, path, flags }: DiskCall & { readonly kind: 'open' }): boolean {
    this.#opened.delete(fd);
    if (!this.#isOwn(path)) return false;
    this.#opened.set(fd, { path, at: 0 });
    if (flags.includes('O_DIRECTORY') || path === this.#root) return false;
    const isNew = flags.includes('O_CREAT') && !this.#names.has(path);
    if (isNew) this.#name(path, { synced: Buffer.alloc(0), pending: [] });
    if (flags.includes('O_TRUNC')) this.#change(fd, { length: 0 });
    return isNew || flags.includes('O_TRUNC');
  }

  #write({ fd, bytes, offset }: DiskCall & { readonly kind: 'write' }): boolean {
    const opened = this.#opened.get(fd);
    if (!opened) return false;
    const at = offset ?? opened.at;
    if (offset === undefined) opened.at += bytes.length;
    return this.#change(fd, { at, bytes });
  }

  #change(fd: number, change: Change): boolean {
    const content = this.#contentOf(fd);
    content?.pending.push(change);
    return content !== undefined;
  }

  #contentOf(fd: number): Content | undefined {
    const entry = this.#names.get(this.#opened.get(fd)?.path ?? '');
    return entry === 'folder' ? undefined : entry;
  }

  #sync(fd: number): boolean {
    const { path } = this.#opened.get(fd) ?? {};
    if (path === undefined) return false;
    const content = this.#contentOf(fd);
    if (content) content.synced = content.pending.splice(0).reduce(changed, content.synced);
    else {
      for (const naming of this.#namings) if (dirname(naming.path) === path) rename(this.#syncedNames, naming);
      this.#namings = this.#namings.filter((naming) => dirname(naming.path) !== path);
    }
    return true;
  }

  #rename(from: string, to: string): boolean {
    const entry = this.#names.get(from);
    if (!entry) return false;
    for (const opened of this.#opened.values()) if (opened.path === from) Object.assign(opened, { path: to });
    this.#name(to, entry);
    return this.#name(from, undefined);
  }

  #name(path: string, entry: Entry | undefined): boolean {
    if (!this.#isOwn(path)) return false;
    const naming = { path, entry };
    rename(this.#names, naming);
    this.#namings = [...this.#namings, naming];
    return true;
  }

  #isOwn(path: string): boolean {
    return path === this.#root || path.startsWith(`${this.#root}/`);
  }
}

function rename(names: Map<string, Entry>, { path, entry }: Naming): void {
  if (entry) names.set(path, entry);
  else names.delete(path);
}

function changed(before: Buffer, change: Change): Buffer {
  const length = 'length' in change ? change.length : Math.max(before.length, change.at + change.bytes.length);
  const after = Buffer.alloc(length);
  before.copy(after);
  if ('bytes' in change) change.bytes.copy(after, change.at);
  return after;
}

/** The whole change, nothing, or its first sectors. */
function partOf(change: Change, random: Random): Change | undefined {
  const lot = random.next();
  if (lot < 1 / 3) return change;
  if (lot < 2 / 3 || 'length' in change) return undefined;
  const { at, bytes } = change;
  const sectors = Math.floor((random.next() * bytes.length) / sectorBytes);
  return { at, bytes: bytes.subarray(0, sectors * sectorBytes) };
}
