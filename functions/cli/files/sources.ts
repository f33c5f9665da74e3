/** What `-f` names: files, the files of folders, web addresses, and the standard input. */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readBounded, readFault } from '../../../shared/lib/bounded-file.ts';
import { codeOf } from '../../../shared/lib/error-code.ts';
import { fileBytesMax } from '../../../shared/manifest/limits.ts';

/** A text, or why there is none. */
export type ReadText =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'failed'; readonly detail: string };

export type Source =
  | { readonly kind: 'file'; readonly name: string }
  /** An entry of a folder. Only a regular file is read: a FIFO would wait for its writer. */
  | { readonly kind: 'entry'; readonly name: string }
  | { readonly kind: 'address'; readonly name: string; readonly url: URL }
  /** There is nothing to read. */
  | { readonly kind: 'wrong'; readonly name: string; readonly detail: string };

/** What is taken of a folder. */
const extensions = ['.yaml', '.yml', '.json'];
/** Files of one folder, and folders within folders. */
const filesMax = 10_000;
const depthMax = 32;

export const standardInput = '-';

/**
 * The sources in the order of the arguments, and in a folder by name. Files whose name begins with a dot are skipped.
 */
export const sourcesOf = (names: readonly string[], isRecursive: boolean): readonly Source[] =>
  names.flatMap((name) => {
    if (/^[a-z][a-z\d+.-]*:\/\//i.test(name)) return addressSource(name);
    if (name === standardInput || !isFolder(name)) return { kind: 'file', name } as const;
    return folderSources(name, isRecursive);
  });

function addressSource(name: string): Source {
  const url = URL.parse(name);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    return { kind: 'wrong', name, detail: 'must be an http or https URL' };
  if (url.username !== '' || url.password !== '') {
    url.username = '';
    url.password = '';
    return { kind: 'wrong', name: url.href, detail: 'must have no user or password: none is sent' };
  }
  return { kind: 'address', name, url };
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

function folderSources(folder: string, isRecursive: boolean): readonly Source[] {
  const wrong = (detail: string) => [{ kind: 'wrong', name: folder, detail } as const];
  try {
    const files = filesIn(folder, isRecursive ? depthMax : 0);
    if (files.length > filesMax) return wrong(`has more than ${filesMax} files`);
    const also = isRecursive ? '' : '; -R looks in its folders, too';
    if (files.length === 0) return wrong(`has no file *${extensions.join(', *')}${also}`);
    return files.map((name) => ({ kind: 'entry', name }));
  } catch (error) {
    return wrong(readFault(error));
  }
}

/** Links to folders are not followed: they could lead in a circle. */
function filesIn(folder: string, depth: number): readonly string[] {
  const found: string[] = [];
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith('.') || found.length > filesMax) continue;
    if (entry.isDirectory()) found.push(...(depth > 0 ? filesIn(path, depth - 1) : []));
    else if (extensions.some((each) => entry.name.endsWith(each)) && !isFolder(path)) found.push(path);
  }
  return found;
}

/** The text of a file of a folder. */
export const entryText = (path: string): ReadText => textOf(() => readBounded(path, fileBytesMax));

/** The text of a file, of the standard input, or of what a shell gives a name. */
export const fileText = (path: string): ReadText =>
  textOf(() => (path === standardInput ? bytesOf(0) : fileBytes(path)));

function textOf(read: () => Uint8Array): ReadText {
  try {
    return decodedText(read());
  } catch (error) {
    return { kind: 'failed', detail: readFault(error) };
  }
}

function fileBytes(path: string): Uint8Array {
  const descriptor = openSync(path, 'r');
  try {
    return bytesOf(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const pieceBytes = 64 * 1024;
const pauseMs = 20;

/** Reads slightly more than the limit, so that a larger file is noticed. */
function bytesOf(descriptor: number): Uint8Array {
  const pieces: Buffer[] = [];
  for (let bytes = 0; bytes <= fileBytesMax; ) {
    const piece = Buffer.alloc(pieceBytes);
    const length = readPiece(descriptor, piece);
    if (length === 0) break;
    bytes += length;
    pieces.push(piece.subarray(0, length));
  }
  return Buffer.concat(pieces);
}

/** npm and npx make the standard input non-blocking: while what is piped has not come, reading it is EAGAIN. */
function readPiece(descriptor: number, piece: Buffer): number {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      return readSync(descriptor, piece);
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error;
      Atomics.wait(never, 0, 0, pauseMs);
    }
  }
}

export function decodedText(bytes: Uint8Array): ReadText {
  if (bytes.length > fileBytesMax) return { kind: 'failed', detail: `has more than ${fileBytesMax} bytes` };
  try {
    return { kind: 'read', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { kind: 'failed', detail: readFault(error) };
  }
}
