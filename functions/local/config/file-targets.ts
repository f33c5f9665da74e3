/**
 * What targets a file has. Parsing a large file of YAML takes seconds, in which no probe could be made: a thread asks
 * for it (`convert-thread.ts`). The answer has no functions, because it is copied.
 */
import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { readFault, readPlaced } from '../../../shared/lib/bounded-file.ts';
import { convertFile, type FileError, type Note, type Tally, tallyOf } from '../../../shared/manifest/convert.ts';
import { fileBytesMax } from '../../../shared/manifest/limits.ts';
import type { Place } from '../../../shared/manifest/manifest.ts';

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

/** Reads and converts the file. Never throws. */
export function targetsIn({ name: file, path, folders, ...options }: AskedFile): ReadTargets {
  const read = textIn(path);
  const invalid = (detail: string) => ({
    kind: 'invalid' as const,
    errors: [{ file, line: 1, column: 1, detail }],
  });
  if ('fault' in read) return { ...invalid(read.fault), isUnread: true };
  const { text } = read;
  const isQuoted = !isLinkedOut(read.realPath, folders);
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
function isLinkedOut(realPath: string, folders: readonly string[]): boolean {
  try {
    return folders.every((folder) => `${relative(realpathSync(folder), realPath)}/`.startsWith('../'));
  } catch {
    // There is no folder any more.
    return true;
  }
}

const linkedOut = "is a link out of its folder and not valid: 'probelet lint -f' of the file says what is wrong";

/** Of one file, as many as are logged. */
const leftOutMax = 100;

const emptyFile = 'is empty: to remove its targets, remove the file, or its name from the configuration';

function textIn(path: string): { readonly text: string; readonly realPath: string } | { readonly fault: string } {
  try {
    const { content, realPath } = readPlaced(path, fileBytesMax);
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(content), realPath };
  } catch (error) {
    return { fault: readFault(error) };
  }
}
