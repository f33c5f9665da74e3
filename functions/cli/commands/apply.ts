/**
 * `probelet apply`: stores the targets of files, as kubectl does. Nothing of a file is sent if any of it is wrong; the
 * other files are applied all the same, and the exit code is 1.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import { isLabelValue } from '../../../shared/core/spec/names.ts';
import { type ConvertedTarget, tallyOf } from '../../../shared/manifest/convert.ts';
import { refusalLine } from '../../client/client-error.ts';
import {
  convertedFiles,
  type FileOptions,
  fileErrorText,
  hostOption,
  placeText,
  reportErrors,
  reportNotes,
  tallyText,
  withFiles,
} from '../files/manifest-files.ts';
import { checkedTogether, targetsOf } from '../files/wanted-targets.ts';
import { type CommandSetting, type Io, type Progress, progressOf } from '../io.ts';
import { type NamedItem, printItems } from '../printing/documents.ts';
import type { DocumentFormat } from '../printing/output.ts';
import { nothing, type Printable } from '../printing/printable.ts';
import { isColouredFor } from '../printing/tables.ts';
import { diffText } from '../printing/target-diff.ts';
import { appliedTargets, type Outcome, type PruneOutcome, pruneTargets, setLabel } from '../server/applying.ts';
import { apiCommand, connectionOf, flagsOf, type Session, withSession } from '../server/connection.ts';
import { exitCodes } from '../words/exit-codes.ts';

export type ApplyOptions = FileOptions & {
  readonly host?: string;
  readonly dryRun?: 'server' | 'none';
  readonly diff?: boolean;
  readonly prune?: boolean;
  readonly applySet: string;
  readonly output?: DocumentFormat;
  /** Set by `diff`: called for each target that would change, instead of printing its line. */
  readonly onChange?: () => void;
};

/** Targets up to which `apply` shows diffs by itself. */
const ownDiffsMax = 100;

const examples = `
Examples:
  probelet apply -f targets.yaml
  probelet apply -f targets/ -R --prune
  probelet apply -f deployment.yaml --host 10.0.0.1 --diff --dry-run
  helm template web ./chart | probelet apply -f - -n web
  probelet apply -f https://example.com/targets.yaml

Each target gets the label ${setLabel}, whose value --apply-set gives. --prune deletes the targets of
the same set that no file names, in the namespaces of the targets that the files name, and no others.`;

export const applyCommand = (setting: CommandSetting): Command =>
  withFiles(apiCommand('apply'))
    .description('store the targets of files, or change them: manifests of Kubernetes, Compose and Gatus files')
    .addOption(hostOption())
    .addOption(
      new Option('--dry-run [where]', 'only say what the server would do').choices(['server', 'none']).preset('server'),
    )
    .option('--diff', `print what changes of each target (default: on a terminal, up to ${ownDiffsMax} targets)`)
    .option('--no-diff', 'print no changes')
    .option('--prune', 'also delete the targets that an earlier apply has stored and no file names')
    .addOption(setOption())
    .addOption(new Option('-o, --output <format>', 'print the targets').choices(['yaml', 'json', 'name']))
    .addHelpText('after', examples)
    .action((_options: ApplyOptions, command: Command) => apply(setting, command, command.opts<ApplyOptions>()));

/** `--apply-set NAME`. */
export const setOption = (): Option =>
  new Option('--apply-set <name>', 'which targets belong together').argParser(setName).default('default');

function setName(text: string): string {
  if (text !== '' && isLabelValue(text)) return text;
  throw new InvalidArgumentError('must be at most 63 letters, digits, dots, hyphens and underscores, as a label is');
}

/** Also for `diff`, which brings options of its own. */
export async function apply({ io, endWith }: CommandSetting, command: Command, options: ApplyOptions): Promise<void> {
  const { filename, recursive, host, applySet: set } = options;
  const connection = connectionOf(flagsOf(command), io.env);
  const { namespace, timeoutMs } = connection;
  const progress = progressOf(io);
  const format = { namespace, ...(host !== undefined && { host }) };
  const read = await convertedFiles({ filename, recursive }, { io, format, timeoutMs });
  const conversions = checkedTogether(read, connection);
  reportErrors(conversions, io.err);
  reportNotes(conversions, io.err);
  const tally = tallyOf(conversions);
  if (tally.approximated + tally.leftOut > 0) io.err(tallyText(tally));
  const areFilesWrong = conversions.some(({ kind }) => kind === 'invalid');
  const targets = targetsOf(conversions);
  if (targets.length === 0) {
    if (!areFilesWrong) io.err('No file has a target.');
    return endWith(exitCodes.failed);
  }
  const run: Run = { io, options, progress, targets, set, dryRun: options.dryRun === 'server' };
  await withSession(connection, { io }, async (session) => {
    const isStored = await applyAll(session, run);
    const isDone = isStored && !areFilesWrong;
    const isPruned = options.prune === true ? await prune(session, run, isDone) : true;
    if (!isDone || !isPruned) endWith(exitCodes.failed);
  });
}

type Run = {
  readonly io: Io;
  readonly options: ApplyOptions;
  readonly progress: Progress;
  readonly targets: readonly ConvertedTarget[];
  readonly set: string;
  readonly dryRun: boolean;
};

/** Returns whether all targets are stored. */
async function applyAll(session: Session, run: Run): Promise<boolean> {
  const { io, options, progress, targets, set, dryRun } = run;
  const diffed = diffedChanges(run);
  const hasTargets = options.output === 'yaml' || options.output === 'json';
  const outcomes = appliedTargets(session, targets, { set, dryRun, hasBefore: diffed.length > 0, hasTargets });
  let done = 0;
  let failed = 0;
  const items = async function* (): AsyncGenerator<NamedItem> {
    for await (const outcome of outcomes) {
      done += 1;
      const isStored = isReported(outcome, io);
      if (isStored && diffed.includes(outcome.applied.change)) io.out(diffOf(outcome, io));
      const item = isStored ? await itemOf(outcome, session, run) : undefined;
      if (item) yield item;
      if (!isStored || (hasTargets && !item)) failed += 1;
      progress.show(`${done} of ${targets.length} targets`);
    }
    progress.end();
  };
  const { output: format = 'name' } = options;
  const output = { kind: 'document', format } as const;
  await printItems(items(), { output, isList: targets.length !== 1, kind: 'TargetList' }, io.out);
  return failed === 0;
}

/** undefined: its line is printed, or it has gone, which is said. */
async function itemOf(outcome: Outcome, session: Session, run: Run): Promise<NamedItem | undefined> {
  const { io, options } = run;
  const { wanted } = outcome;
  const name = `target/${wanted.name}`;
  if (options.output === undefined) {
    printLine(outcome, run);
    return undefined;
  }
  if (options.output === 'name') return { name, value: undefined };
  const value = await targetOf(outcome, session);
  if (!value) io.err(`${placeText(wanted.placeOf(''))}: ${name} was stored and deleted again before it could be read.`);
  return value && { name, value };
}

function printLine({ wanted, applied: { change } }: Outcome, { io, options, dryRun }: Run): void {
  if (!options.onChange) io.line(`target/${wanted.name} ${change}${suffix(dryRun)}`);
  else if (change !== 'unchanged') options.onChange();
}

const suffix = (dryRun: boolean): string => (dryRun ? ' (dry run)' : '');

/** Prints warnings, or why a target is not stored. Returns whether it is stored. */
function isReported({ wanted, applied }: Outcome, { err }: Io): boolean {
  const { problem, warning, name } = applied;
  if (warning !== undefined) err(`Warning: target/${name}: ${warning}`);
  if (!problem) return true;
  const fields = (problem.errors ?? []).flatMap((error) => ('pointer' in error ? [error] : []));
  if (fields.length === 0)
    err(`${placeText(wanted.placeOf(''))}: target/${wanted.name}: ${refusalLine(problem)}${nextStep(wanted, problem)}`);
  for (const { pointer, detail } of fields)
    err(fileErrorText({ ...wanted.placeOf(pointer), field: wanted.fieldOf(pointer), detail }));
  return false;
}

/** What to do about a target that is being deleted. */
function nextStep({ name, namespace }: ConvertedTarget, { type }: NonNullable<Outcome['applied']['problem']>): string {
  if (type !== 'urn:probelet:problem:terminating') return '';
  const named = `target/${name}${namespace === 'default' ? '' : ` -n ${namespace}`}`;
  return ` Wait for that with 'probelet wait ${named} --for=delete', or end it now with 'probelet delete ${named} --now'.`;
}

/** Without --diff, only changes of a few targets are shown, on a terminal: each diff takes two requests more. */
function diffedChanges({ io, options, targets }: Run): readonly Outcome['applied']['change'][] {
  if (options.diff === true) return ['created', 'configured'];
  const isShown = options.diff === undefined && options.output === undefined && io.isTerminal;
  return isShown && targets.length <= ownDiffsMax ? ['configured'] : [];
}

function diffOf({ applied, before }: Outcome, io: Io): Printable {
  if (!applied.target) return nothing;
  return diffText(before, applied.target, isColouredFor(io));
}

/** The answer leaves targets out where it would become too large. */
const targetOf = async ({ wanted, applied }: Outcome, { client }: Session): Promise<TargetView | undefined> =>
  applied.target ?? client.target(wanted);

/** Returns whether everything that is not named is deleted. */
async function prune(session: Session, { io, options, targets, set, dryRun }: Run, isDone: boolean): Promise<boolean> {
  if (!isDone) {
    io.err('Nothing is pruned, because not everything is stored.');
    return false;
  }
  // The standard output stream has documents or names of what is stored.
  const print = options.output === undefined ? io.line : io.err;
  let isComplete = true;
  for await (const pruned of pruneTargets(session, targets, set, dryRun)) {
    print(prunedLine(pruned, dryRun));
    if (pruned.why !== undefined) isComplete = false;
  }
  return isComplete;
}

const prunedLine = ({ name, why }: PruneOutcome, dryRun: boolean): string =>
  `target/${name} ${why ?? `pruned${suffix(dryRun)}`}`;
