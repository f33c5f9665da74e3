/**
 * What a process asks of its disk, as strace prints it: each call with its time and its bytes. One file for each
 * thread, so that no call is printed in two parts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export type DiskCall = { readonly atMs: number } & (
  | { readonly kind: 'open'; readonly fd: number; readonly path: string; readonly flags: string }
  | { readonly kind: 'write'; readonly fd: number; readonly offset?: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly fd: number; readonly length: number }
  | { readonly kind: 'sync' | 'close'; readonly fd: number }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'unlink' | 'mkdir'; readonly path: string }
);

const traced =
  'open,openat,creat,close,write,pwrite64,writev,pwritev,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat';
const stringBytesMax = 16 * 1024 * 1024;

/**
 * What runs a program so that its calls are written to files that begin with this path. The program is the child, and
 * the tracer a process beside it.
 */
export const tracer = (path: string): readonly string[] => [
  ...['strace', '-D', '-ff', '-qq', '-ttt', '-v', '-xx', '-s', `${stringBytesMax}`],
  ...['-e', `trace=${traced}`, '-e', 'signal=none', '-o', path],
];

/** In the order of their begin. Failed calls are left out. */
export function callsIn(path: string): readonly DiskCall[] {
  const files = readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.`));
  const lines = files.flatMap((name) => readFileSync(join(dirname(path), name), 'latin1').split('\n'));
  return lines.flatMap((line) => callOf(line) ?? []).sort((one, other) => one.atMs - other.atMs);
}

const lineParts = /^(\d+\.\d+) (\w+)\((.*)\)\s+= (\d+)/s;

function callOf(line: string): DiskCall | undefined {
  const [, seconds = '', name = '', given = '', answered = ''] = lineParts.exec(line) ?? [];
  const atMs = Number(seconds) * 1_000;
  const strings = [...given.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) => bytesOf(hex));
  const paths = strings.map((bytes) => bytes.toString());
  const [path = '', other = ''] = paths;
  const fd = Number.parseInt(given, 10);
  const last = Number(given.slice(given.lastIndexOf(',') + 1));
  const bytes = Buffer.concat(strings).subarray(0, Number(answered));
  switch (name) {
    case 'open':
    case 'openat':
      return { atMs, kind: 'open', fd: Number(answered), path, flags: given.slice(given.lastIndexOf('"')) };
    case 'creat':
      return { atMs, kind: 'open', fd: Number(answered), path, flags: 'O_CREAT|O_TRUNC' };
    case 'write':
    case 'writev':
      return { atMs, kind: 'write', fd, bytes };
    case 'pwrite64':
    case 'pwritev':
      return { atMs, kind: 'write', fd, bytes, offset: last };
    case 'ftruncate':
      return { atMs, kind: 'truncate', fd, length: last };
    case 'fsync':
    case 'fdatasync':
      return { atMs, kind: 'sync', fd };
    case 'close':
      return { atMs, kind: 'close', fd };
    case 'rename':
    case 'renameat':
    case 'renameat2':
      return { atMs, kind: 'rename', from: path, to: other };
    case 'unlink':
    case 'unlinkat':
      return { atMs, kind: 'unlink', path };
    case 'mkdir':
    case 'mkdirat':
      return { atMs, kind: 'mkdir', path };
    default:
      return undefined;
  }
}

const bytesOf = (escaped: string): Buffer => Buffer.from(escaped.replaceAll('\\x', ''), 'hex');
