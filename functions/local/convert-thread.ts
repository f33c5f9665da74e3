/**
 * The thread in which files of targets are converted. Parsing a large file of YAML takes seconds, in which no probe
 * could be made. The answer has no functions, because it is copied.
 */
import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { readBounded } from '../../shared/lib/bounded-file.ts';
import { readFault } from '../../shared/lib/read-fault.ts';
import { convertFile, type FileError, type Note, type Tally, tallyOf } from '../../shared/manifest/convert.ts';
import { fileBytesMax } from '../../shared/manifest/limits.ts';
import type { Place } from '../../shared/manifest/manifest.ts';
import { giveWay } from './give-way.ts';

export type AskedFile = {
  readonly name: string;
  readonly path: string;
  /** Folders that the configuration names. Of what a link out of them leads to, nothing is quoted. */
  readonly folders: readonly string[];
  readonly host?: string;
  readonly namespace?: string;
};

export type FileTarget = {
  /** Absent: the file does not name one. */
  readonly namespace?: string;
  readonly name: string;
  /** As the API accepts it. */
  readonly manifest: object;
  readonly place: Place;
};

export type ReadTargets =
  | {
      readonly kind: 'read';
      readonly targets: readonly FileTarget[];
      readonly tally: Tally;
      /** The first of what nothing probes. */
      readonly leftOut: readonly Note[];
    }
  /** `isUnread`: nothing is known of its content, and another attempt may succeed. */
  | { readonly kind: 'invalid'; readonly errors: readonly FileError[]; readonly isUnread?: true };

giveWay();

parentPort?.on('message', (asked: AskedFile) => parentPort?.postMessage(targetsIn(asked)));

function targetsIn({ name: file, path, folders, ...options }: AskedFile): ReadTargets {
  const isQuoted = !isLinkedOut(path, folders);
  const text = textIn(path);
  const invalid = (detail: string) => ({
    kind: 'invalid' as const,
    errors: [{ file, line: 1, column: 1, detail }],
  });
  if (typeof text === 'object') return { ...invalid(text.fault), isUnread: true };
  const converted = convertFile({ name: file, text }, options);
  if (converted.kind === 'invalid') return isQuoted ? converted : invalid(linkedOut);
  // More likely cut off by a full disk than meant.
  if (converted.targets.length + converted.notes.length === 0) return invalid(emptyFile);
  const targets = converted.targets.map(({ manifest, name, placeOf }) => {
    const { metadata } = manifest as { readonly metadata?: { readonly namespace?: string } };
    const { line, column } = placeOf('');
    const named = metadata?.namespace ? { namespace: metadata.namespace } : {};
    return { ...named, name, manifest: manifest as object, place: { line, column } };
  });
  const leftOut = converted.notes.filter(({ kind }) => kind === 'leftOut').slice(0, isQuoted ? leftOutMax : 0);
  return { kind: 'read', targets, tally: tallyOf([converted]), leftOut };
}

/** A writer of the folder who reads the log may not be allowed to read every file that this process can. */
function isLinkedOut(path: string, folders: readonly string[]): boolean {
  try {
    const real = realpathSync(path);
    return folders.every((folder) => `${relative(realpathSync(folder), real)}/`.startsWith('../'));
  } catch {
    // There is no file, or no folder any more.
    return true;
  }
}

const linkedOut = "is a link out of its folder and not valid: 'probelet lint -f' of the file says what is wrong";

/** Of one file, as many as are logged. */
const leftOutMax = 100;

const emptyFile = 'is empty: to remove its targets, remove the file, or its name from the configuration';

function textIn(path: string): string | { readonly fault: string } {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readBounded(path, fileBytesMax));
  } catch (error) {
    return { fault: readFault(error) };
  }
}
