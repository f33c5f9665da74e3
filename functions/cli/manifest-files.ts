/** Converts the files that a command line names, and says on the standard error stream what was wrong or left out. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { hostDetail } from '../../shared/core/host-detail.ts';
import { isHost } from '../../shared/core/names.ts';
import { type Conversion, convertFile, type FileError, type FilePlace } from '../../shared/manifest/convert.ts';
import { fileBytesMax } from '../../shared/manifest/limits.ts';
import type { FormatOptions } from '../../shared/manifest/manifest.ts';

/** The program was used wrongly: one line that says how to use it. */
export class WrongUse extends Error {}

export const exitCodes = { ok: 0, failed: 1, wrongUse: 2 } as const;

export type Output = { readonly out: (text: string) => void; readonly err: (line: string) => void };

export type ManifestArguments = {
  readonly files: readonly string[];
  readonly options: FormatOptions;
  /** The values of the program's further options. */
  readonly others: { readonly [option: string]: string | undefined };
};

/** `further`: names of the program's options beside `-f` and `--host`; each takes a value. @throws WrongUse */
export function manifestArguments(args: readonly string[], further: readonly string[] = []): ManifestArguments {
  const { filename: files = [], host, ...others } = parsed(args, further);
  if (files.length === 0) throw new WrongUse('-f FILE is missing; - is the standard input');
  if (host !== undefined && !isHost(host)) throw new WrongUse(`--host ${hostDetail(host)}`);
  return { files, options: host === undefined ? {} : { host }, others: others as ManifestArguments['others'] };
}

type Parsed = { readonly filename?: readonly string[]; readonly host?: string };

function parsed(args: readonly string[], further: readonly string[]): Parsed {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        filename: { ...text, short: 'f', multiple: true },
        host: text,
        ...Object.fromEntries(further.map((option) => [option, text])),
      },
    });
    return values as Parsed;
  } catch (error) {
    throw new WrongUse(error instanceof Error ? error.message.split('. ')[0] : String(error));
  }
}

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
export function reportErrors(conversions: readonly Conversion[], err: Output['err']): void {
  for (const each of conversions)
    if (each.kind === 'invalid')
      for (const error of each.errors)
        err(`${placeText(error)}: ${error.field === undefined ? '' : `${error.field} `}${error.detail}`);
}

/** What was approximated or left out, one line each. */
export function reportNotes(conversions: readonly Conversion[], err: Output['err']): void {
  const kinds = { approximated: 'approximated', leftOut: 'left out' } as const;
  for (const each of conversions)
    if (each.kind === 'converted')
      for (const note of each.notes) err(`${placeText(note)}: ${kinds[note.kind]}: ${note.what} ${note.reason}`);
}

/** Runs a program: its exit code, and one line for a wrong use. */
export function exitCodeOf(run: () => number, usage: string, err: Output['err']): number {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof WrongUse)) throw error;
    err(`${error.message}. ${usage}`);
    return exitCodes.wrongUse;
  }
}
