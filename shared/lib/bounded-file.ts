/**
 * Reads files that others name or write. A FIFO in the place of one would hang the process until it has a
 * writer, and a device such as `/dev/zero` would fill the memory.
 */
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { platform } from 'node:process';
import { codeOf } from './error-code.ts';

/** The file exists and is not read. The message says why, behind its name. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused';
}

const chunkBytes = 64 * 1_024;

/**
 * Returns the content of a regular file. Symlinks are followed.
 * @throws FileRefused if it is of another kind, or has more than `bytesMax` bytes; the error of the system otherwise.
 */
export const readBounded = (path: string, bytesMax: number): Buffer =>
  withRegular(path, bytesMax, (descriptor) => contentOf(descriptor, bytesMax));

export type PlacedContent = {
  readonly content: Buffer;
  /** Where that is which was read, behind all links. */
  readonly realPath: string;
};

/** As `readBounded`. */
export const readPlaced = (path: string, bytesMax: number): PlacedContent =>
  withRegular(path, bytesMax, (descriptor) => ({
    content: contentOf(descriptor, bytesMax),
    realPath: openedPath(descriptor, path),
  }));

function withRegular<Answer>(path: string, bytesMax: number, read: (descriptor: number) => Answer): Answer {
  // Without O_NONBLOCK opening a FIFO waits for its writer.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) throw new FileRefused('is a folder, not a file');
    if (!stats.isFile()) throw new FileRefused('is not a regular file');
    if (stats.size > bytesMax) throw tooLarge(bytesMax);
    return read(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Only the kernel knows what was opened: a link may lead to another place by now. */
const openedPath = (descriptor: number, path: string): string =>
  platform === 'linux' ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync(path);

/** The size that was asked may be wrong: it is 0 in `/proc`, and the file may grow meanwhile. */
function contentOf(descriptor: number, bytesMax: number): Buffer {
  const chunks: Buffer[] = [];
  for (let bytes = 0; ; ) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const read = readSync(descriptor, chunk);
    if (read === 0) return Buffer.concat(chunks);
    bytes += read;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk.subarray(0, read));
  }
}

const tooLarge = (bytesMax: number) => new FileRefused(`has more than ${bytesMax} bytes`);

const faults: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file',
  EACCES: 'may not be read',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8',
};

/** Why a file has no text, as an error line says it after the name. `error`: of opening, reading or decoding it. */
export function readFault(error: unknown): string {
  if (error instanceof FileRefused) return error.message;
  const code = codeOf(error);
  return faults[code] ?? `cannot be read (${code})`;
}
