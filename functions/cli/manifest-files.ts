/** Converts the files that a command line names, and says on the standard error stream what was wrong or left out. */
import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { hostDetail } from '../../shared/core/host-detail.ts';
import { isHost } from '../../shared/core/names.ts';
import { type Conversion, convertFile, type FileError, type FilePlace } from '../../shared/manifest/convert.ts';
import { fileBytesMax } from '../../shared/manifest/limits.ts';
import type { FormatOptions } from '../../shared/manifest/manifest.ts';
import type { Io } from './io.ts';

/** `-f FILE`, which can be given several times. */
export const filesOption = (): Option =>
  new Option('-f, --filename <file>', 'a file; - is the standard input; can be given several times')
    .argParser((file, files: readonly string[] = []) => [...files, file])
    .makeOptionMandatory();

/** `--host HOST`. */
export const hostOption = (): Option =>
  new Option('--host <host>', 'the address of targets that name none').argParser((host) => {
    if (!isHost(host)) throw new InvalidArgumentError(hostDetail(host));
    return host;
  });

/** One conversion a file, in the order of the arguments. A file that cannot be read is an invalid one. */
export function convertedFiles(files: readonly string[], options: FormatOptions): readonly Conversion[] {
  return files.map((name) => {
    const file = name === '-' ? 'stdin' : name;
    const read = textOf(name === '-' ? 0 : name);
    if (read.kind === 'failed') return invalid({ file, line: 1, column: 1, detail: read.detail });
    return convertFile({ name: file, text: read.text }, options);
  });
}

const invalid = (error: FileError): Conversion => ({ kind: 'invalid', errors: [error] });

type ReadText = { readonly kind: 'read'; readonly text: string } | { readonly kind: 'failed'; readonly detail: string };

function textOf(source: string | 0): ReadText {
  try {
    const bytes = readFileSync(source);
    if (bytes.length > fileBytesMax) return { kind: 'failed', detail: `has more than ${fileBytesMax} bytes` };
    return { kind: 'read', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const details: { readonly [code: string]: string } = {
      ENOENT: 'there is no such file',
      EISDIR: 'is a folder, not a file',
      EACCES: 'may not be read',
      ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8',
    };
    return { kind: 'failed', detail: details[code] ?? `cannot be read (${code})` };
  }
}

export const placeText = ({ file, line, column }: FilePlace): string => `${file}:${line}:${column}`;

/** What was wrong in files, one line each. */
export function reportErrors(conversions: readonly Conversion[], err: Io['err']): void {
  for (const each of conversions)
    if (each.kind === 'invalid')
      for (const error of each.errors)
        err(`${placeText(error)}: ${error.field === undefined ? '' : `${error.field} `}${error.detail}`);
}

/** What was approximated or left out, one line each. */
export function reportNotes(conversions: readonly Conversion[], err: Io['err']): void {
  const kinds = { approximated: 'approximated', leftOut: 'left out' } as const;
  for (const each of conversions)
    if (each.kind === 'converted')
      for (const note of each.notes) err(`${placeText(note)}: ${kinds[note.kind]}: ${note.what} ${note.reason}`);
}
