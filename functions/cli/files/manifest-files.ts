/** Converts the files that a command line names, and says on the standard error stream what was wrong or left out. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { hostDetail } from '../../../shared/core/spec/host-detail.ts';
import { isHost } from '../../../shared/core/spec/names.ts';
import {
  type Conversion,
  convertFile,
  type FileError,
  type FilePlace,
  type Tally,
} from '../../../shared/manifest/convert.ts';
import type { FormatOptions } from '../../../shared/manifest/manifest.ts';
import { type Io, progressOf } from '../io.ts';
import type { FetchOptions } from './fetched-file.ts';
import { entryText, fileText, type ReadText, type Source, sourcesOf, standardInput } from './sources.ts';

/** `-f FILE`, which can be given several times: what it may name is described at `sourcesOf`. */
const filesOption = (): Option =>
  new Option(
    '-f, --filename <file>',
    'a file, a folder of *.yaml, *.yml and *.json, a URL, or - for the standard input; can be given several times',
  ).argParser((file, files: readonly string[] = []) => [...files, file]);

export type FileOptions = {
  readonly filename?: readonly string[] | undefined;
  readonly recursive?: boolean | undefined;
};

/** Adds `-f` and `-R`. */
export const withFiles = (command: Command, { isMandatory = true } = {}): Command =>
  command
    .addOption(filesOption().makeOptionMandatory(isMandatory))
    .option('-R, --recursive', 'also the folders in folders that -f names');

/** Where the address does not matter: what names none is read all the same (RFC 2606). */
export const anyHost = 'host.invalid';

/** `--host HOST`. */
export const hostOption = (): Option =>
  new Option('--host <host>', 'the address of targets that name none').argParser((host) => {
    if (!isHost(host)) throw new InvalidArgumentError(hostDetail(host));
    return host;
  });

/** The time-out of fetching a file, for commands that talk to no server. */
const fetchMsMax = 30_000;

export type Reading = {
  readonly io: Io;
  readonly format: FormatOptions;
  /** The time-out of fetching a file. */
  readonly timeoutMs?: number;
};

/** One conversion a file, in the order of the arguments. A file that cannot be read is an invalid one. */
export async function convertedFiles(
  { filename = [], recursive = false }: FileOptions,
  { io, format, timeoutMs = fetchMsMax }: Reading,
): Promise<readonly Conversion[]> {
  const progress = progressOf(io);
  const conversions: Conversion[] = [];
  for (const source of sourcesOf(filename, recursive)) {
    progress.show(`reading ${source.name}`);
    conversions.push(converted(source.name, await sourceText(source, { timeoutMs, env: io.env }), format));
  }
  progress.end();
  return conversions;
}

async function sourceText(source: Source, fetching: FetchOptions): Promise<ReadText> {
  if (source.kind === 'wrong') return { kind: 'failed', detail: source.detail };
  if (source.kind === 'file') return fileText(source.name);
  if (source.kind === 'entry') return entryText(source.name);
  const { fetchedText } = await import('./fetched-file.ts');
  return fetchedText(source.url, fetching);
}

function converted(name: string, read: ReadText, options: FormatOptions): Conversion {
  const file = name === standardInput ? 'stdin' : name;
  if (read.kind === 'failed') return invalid({ file, line: 1, column: 1, detail: read.detail });
  return convertFile({ name: file, text: read.text }, options);
}

const invalid = (error: FileError): Conversion => ({ kind: 'invalid', errors: [error] });

export const placeText = ({ file, line, column }: FilePlace): string => `${file}:${line}:${column}`;

export const fileErrorText = (error: FileError): string =>
  `${placeText(error)}: ${error.field === undefined ? '' : `${error.field} `}${error.detail}`;

/** What was wrong in files, one line each. */
export function reportErrors(conversions: readonly Conversion[], err: Io['err']): void {
  for (const each of conversions)
    if (each.kind === 'invalid') for (const error of each.errors) err(fileErrorText(error));
}

/** What is said of files, one line each. What matters comes last: first what is harmless, then what is lost. */
export function reportNotes(conversions: readonly Conversion[], err: Io['err']): void {
  const notes = conversions.flatMap((each) => (each.kind === 'converted' ? each.notes : []));
  const kinds = { approximated: 'approximated', leftOut: 'left out', note: 'note' } as const;
  for (const isHarmless of [true, false])
    for (const note of notes)
      if ((note.kind === 'note') === isHarmless)
        err(`${placeText(note)}: ${kinds[note.kind]}: ${note.what} ${note.reason}`);
}

/** How many targets the files have, and how much of them is no target. */
export function tallyText({ targets, approximated, leftOut }: Tally): string {
  const lost = leftOut === 0 ? 'nothing is left out' : `${leftOut} left out, which nothing probes`;
  const what = `${targets} ${targets === 1 ? 'target' : 'targets'}`;
  return `${what}: ${targets - approximated} exact, ${approximated} approximated; ${lost}.`;
}
