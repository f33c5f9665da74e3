/** `probelet delete`: begins the termination of targets. */

import { type Command, Option } from 'commander';
import { gracePeriodSecondsMax } from '../../../shared/core/spec/limits.ts';
import { inOrder } from '../../../shared/lib/in-turn.ts';
import type { NamedTarget } from '../../client/answers.ts';
import { anyHost, convertedFiles, type FileOptions, reportErrors, withFiles } from '../files/manifest-files.ts';
import { checkedTogether, qualifiedName, targetsOf } from '../files/wanted-targets.ts';
import type { CommandSetting, Io } from '../io.ts';
import { deletionsAtOnce } from '../server/applying.ts';
import { apiCommand, type Connection, connectionOf, flagsOf, type Session, withSession } from '../server/connection.ts';
import { untilGone } from '../server/leaving.ts';
import { selectedTargets } from '../server/selection.ts';
import { CliError, exitCodes, WrongUse } from '../words/exit-codes.ts';
import { milliseconds, numberOption } from '../words/option-values.ts';
import { noTarget, targetNames } from '../words/resources.ts';

type Options = FileOptions & {
  readonly selector?: string;
  readonly dryRun?: boolean;
  readonly ignoreNotFound?: boolean;
  readonly gracePeriod?: number;
  readonly now?: boolean;
  readonly force?: boolean;
  readonly wait: boolean;
  readonly timeout?: number;
};

const examples = `
Examples:
  probelet delete target/checkout
  probelet delete target a b c -n shop --wait=false
  probelet delete target/checkout --now
  probelet delete targets -l team=shop --dry-run
  probelet delete -f targets/ -R`;

export const deleteCommand = (setting: CommandSetting): Command =>
  withFiles(apiCommand('delete'), { isMandatory: false })
    .description('delete targets, and wait until their grace period is over and their names are free')
    .argument('[target...]', 'target/NAME, or target NAME; target alone with --selector')
    .option('-l, --selector <labels>', 'all targets of the namespace with these labels')
    .option('--dry-run', 'only say what would be deleted')
    .option('--ignore-not-found', 'a target that does not exist is no error')
    .addOption(
      numberOption('--grace-period <seconds>', 'in place of that of the spec; 0: at once', {
        min: 0,
        max: gracePeriodSecondsMax,
      }),
    )
    .option('--now', 'with a grace period of 1 s')
    .option('--force', 'with a grace period of 0 s')
    .option('--wait', 'wait until they are gone', true)
    .option('--no-wait', 'do not wait, as --wait=false')
    .addOption(
      new Option('--timeout <duration>', 'how long to wait (default: the grace period and 2m)').argParser(milliseconds),
    )
    .addHelpText('after', examples)
    .action(async (words: readonly string[], _options: Options, command: Command) => {
      const options = command.opts<Options>();
      const named = namedBy(words, options);
      const connection = connectionOf(flagsOf(command), setting.io.env);
      const ofFiles = options.filename ? await targetsInFiles(setting, connection, options) : [];
      await withSession(connection, setting, async (session) => {
        const { namespace } = session;
        const targets = [
          ...named.map((name) => ({ namespace, name })),
          ...ofFiles,
          ...(await selected(session, options)),
        ];
        await deleteAll(setting.io, session, targets, options);
      });
    });

/** @throws WrongUse unless exactly one of names, labels and files says what to delete */
function namedBy(words: readonly string[], { filename, selector }: Options): readonly string[] {
  if (filename && (words.length > 0 || selector !== undefined))
    throw new WrongUse('--filename goes with neither names nor --selector');
  if (filename) return [];
  if (words.length === 0) throw new WrongUse('name a target, as in target/NAME, or files by --filename');
  const names = targetNames(words, selector === undefined);
  if (names.length > 0 && selector !== undefined) throw new WrongUse('a name does not go with --selector');
  return names;
}

async function targetsInFiles(
  { io, endWith }: CommandSetting,
  connection: Connection,
  options: Options,
): Promise<readonly NamedTarget[]> {
  const { namespace, timeoutMs } = connection;
  const read = await convertedFiles(options, { io, timeoutMs, format: { namespace, host: anyHost } });
  const conversions = checkedTogether(read, connection);
  reportErrors(conversions, io.err);
  const targets = targetsOf(conversions);
  const isWrong = conversions.some(({ kind }) => kind === 'invalid');
  if (targets.length === 0 && !isWrong) io.err('No file has a target.');
  if (targets.length === 0 || isWrong) endWith(exitCodes.failed);
  return targets;
}

async function selected(session: Session, { selector }: Options): Promise<readonly NamedTarget[]> {
  const { namespace } = session;
  const found: NamedTarget[] = [];
  if (selector === undefined) return found;
  for await (const { metadata } of selectedTargets(session, { names: [], namespace, labelSelector: selector }))
    found.push({ namespace, name: metadata.name });
  return found;
}

/** @throws WrongUse if several of the options say it */
function gracePeriodOf({ gracePeriod, now, force }: Options): { readonly gracePeriodSeconds?: number } {
  // As kubectl: both ask for the same.
  if (force && (gracePeriod ?? 0) !== 0) throw new WrongUse('--force goes only with --grace-period=0');
  if (now && (force || gracePeriod !== undefined))
    throw new WrongUse('--now goes with neither --force nor --grace-period');
  const seconds = now ? 1 : force ? 0 : gracePeriod;
  return seconds === undefined ? {} : { gracePeriodSeconds: seconds };
}

/** @throws CliError for targets that do not exist, after the others */
async function deleteAll(io: Io, session: Session, targets: readonly NamedTarget[], options: Options) {
  const { dryRun = false, ignoreNotFound = false, timeout } = options;
  const { client, namespace } = session;
  const removal = { dryRun, ...gracePeriodOf(options) };
  const remove = async (target: NamedTarget) => ({ target, written: await client.remove(target, removal) });
  const removed: NamedTarget[] = [];
  const absent: NamedTarget[] = [];
  for await (const { target, written } of inOrder(targets, deletionsAtOnce, remove)) {
    if (written?.warning !== undefined) io.err(`Warning: target/${target.name}: ${written.warning}`);
    if (written) io.line(`target/${target.name} deleted${dryRun ? ' (dry run)' : ''}`);
    (written ? removed : absent).push(target);
  }
  if (options.wait && !dryRun) await untilGone(io, session, removed, timeout);
  if (absent.length === 0 || ignoreNotFound) return;
  if (absent.every((each) => each.namespace === namespace))
    throw noTarget(absent.map(({ name }) => name).join(', '), namespace);
  throw new CliError(`there is no target ${absent.map(qualifiedName).join(', ')}`, exitCodes.notFound);
}
