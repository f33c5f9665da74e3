/**
 * `probelet alerts`: `test` tries the receivers of a configuration (exit code 1: one of them did not accept), `silence`
 * writes a silence into it, and `silences` lists them.
 */

import { Command, InvalidArgumentError, Option } from 'commander';
import type { SilenceEntry } from '../../../shared/alerts/alert-config.ts';
import type { Notification } from '../../../shared/alerts/alert-state.ts';
import { type SendOutcome, sendMsMax } from '../../../shared/alerts/delivery.ts';
import { testNotifications } from '../../../shared/alerts/notification-text.ts';
import { secondText } from '../../../shared/api/targets/instant-text.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import { nearest } from '../../../shared/lib/nearest.ts';
import { durationSeconds } from '../../../shared/manifest/duration.ts';
import type { Sender } from '../../local/alerts/alert-sender.ts';
import { type ConfigSetup, configOption, readConfigFile } from '../../local/config/config-file.ts';
import { InvalidOption, readAllowList } from '../../local/options/option-values.ts';
import { addSilence, listedSilences, namedAlerts, readAlerts, silenceHead, silenceRow } from '../files/silences.ts';
import type { CommandSetting } from '../io.ts';
import { documentText } from '../printing/documents.ts';
import { tableText } from '../printing/tables.ts';
import { CliError, exitCodes, WrongUse } from '../words/exit-codes.ts';

type Options = { readonly filename: string; readonly receiver?: string; readonly allowExec?: string };

const examples = `
Examples:
  probelet alerts test -f probelet.yaml
  probelet alerts test -f probelet.yaml --receiver on-call
  probelet alerts silence -f probelet.yaml --name checkout --for 2h --reason 'upgrade of the database'
  probelet alerts silence -f probelet.yaml -n shop --from 2030-01-31T18:00:00Z --for 1h --reason maintenance
  probelet alerts silences -f probelet.yaml`;

export function alertsCommand(setting: CommandSetting): Command {
  const command = new Command('alerts')
    .description('the alerts of a configuration')
    .helpCommand(false)
    .addHelpText('after', examples);
  command
    .command('test')
    .description('send a test notification and its end to each receiver, and print what each answered')
    .requiredOption('-f, --filename <file>', configFileOption)
    .option('--receiver <name>', 'only this receiver')
    .option('--allow-exec <file>', 'the commands that receivers may run, as for start')
    .addHelpText('after', examples)
    .action((options: Options) => tryReceivers(setting, options));
  command
    .command('silence')
    .description('hold alerts about some targets back for a time, by a silence in the configuration')
    .requiredOption('-f, --filename <file>', configFileOption)
    .option('--alert <name...>', 'only these alerts (default: all)')
    .option('-n, --namespace <name...>', 'of targets in these namespaces')
    .option('--name <name...>', 'of targets with these names')
    .option('-l, --selector <labels>', 'of targets with these labels')
    .option('--all-targets', 'of every target')
    .addOption(new Option('--from <instant>', 'when it begins, in UTC (default: now)').argParser(instant))
    .addOption(new Option('--until <instant>', 'when it ends, in UTC').argParser(instant))
    .addOption(new Option('--for <duration>', 'how long it lasts, such as 30m, 2h or 1d').argParser(lasting))
    .requiredOption('--reason <text>', 'why, for the list and the file')
    .addHelpText('after', examples)
    .action((options: SilenceOptions) => silence(setting, options));
  command
    .command('silences')
    .description('the silences of a configuration: active, pending and ended')
    .requiredOption('-f, --filename <file>', configFileOption)
    .addOption(new Option('-o, --output <format>', 'format').choices(['json']))
    .addHelpText('after', examples)
    .action((options: ListOptions) => listSilences(setting, options));
  return command;
}

const configFileOption = "the configuration of 'start --config'";

type SilenceOptions = {
  readonly filename: string;
  readonly alert?: readonly string[];
  readonly namespace?: readonly string[];
  readonly name?: readonly string[];
  readonly selector?: string;
  readonly allTargets?: boolean;
  readonly from?: number;
  readonly until?: number;
  readonly for?: number;
  readonly reason: string;
};

/** Longer than any maintenance. A forgotten silence hides what is wrong. */
const silenceDaysMax = 90;
const dayMs = 86_400_000;

/** ms since the epoch. @throws InvalidArgumentError */
function instant(text: string): number {
  const ms = text.endsWith('Z') ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('must be an instant in UTC, such as 2030-01-31T18:00:00Z');
  return ms;
}

/** ms. @throws InvalidArgumentError */
function lasting(text: string): number {
  const ms = (durationSeconds(text, 'compose') ?? 0) * 1_000;
  if (ms < 1_000 || ms > silenceDaysMax * dayMs)
    throw new InvalidArgumentError(`must be a duration such as 30m, 2h or 1d, of at most ${silenceDaysMax} days`);
  return ms;
}

function silence({ io }: CommandSetting, options: SilenceOptions): void {
  const file = readAlerts(options.filename);
  const alerts = namedAlerts(file, options.alert ?? []).map(({ name }) => name);
  const wanted = silenceOf(options, io.clock.nowMs());
  addSilence(file, alerts, wanted);
  for (const name of alerts) io.line(`alert/${name} silenced from ${wanted.from ?? 'now'} until ${wanted.until}`);
}

/** @throws WrongUse unless the options say which targets are meant, and when it ends */
function silenceOf(options: SilenceOptions, nowMs: number): SilenceEntry {
  const { namespace, name, selector, allTargets = false, from, reason } = options;
  const match = {
    ...(namespace && { namespaces: [...namespace] }),
    ...(name && { names: [...name] }),
    ...(selector !== undefined && { labels: selector }),
  };
  const isOfSome = Object.keys(match).length > 0;
  if (isOfSome === allTargets)
    throw new WrongUse('say which targets by --namespace, --name and --selector, or all by --all-targets');
  if ((options.until === undefined) === (options.for === undefined))
    throw new WrongUse('say when it ends, by either --until or --for');
  const untilMs = options.until ?? (from ?? nowMs) + (options.for ?? 0);
  if (untilMs <= Math.max(nowMs, from ?? 0)) throw new WrongUse('it would have ended before it begins');
  return { match, ...(from !== undefined && { from: secondText(from) }), until: secondText(untilMs), reason };
}

type ListOptions = { readonly filename: string; readonly output?: 'json' };

function listSilences({ io }: CommandSetting, { filename, output }: ListOptions): void {
  const listed = listedSilences(readAlerts(filename).alerts, io.clock.nowMs());
  if (output === 'json') io.out(documentText(listed, 'json'));
  else if (listed.length === 0) io.err(`${filename} has no silences.`);
  else io.out(tableText([silenceHead, ...listed.map(silenceRow)], io));
}

async function tryReceivers({ io, endWith }: CommandSetting, options: Options): Promise<void> {
  const names = wantedReceivers(options);
  const { allows, setup } = setupOf(options, (name) => names.includes(name));
  // The senders are loaded only here, because no other command needs them.
  const { alertSender } = await import('../../local/alerts/alert-sender.ts');
  const { send, close } = alertSender(setup.alerts.receivers, { clock: io.clock, allows });
  try {
    const tried = await Promise.all(names.map((name) => tryReceiver(name, send, io)));
    for (const line of tried.flatMap(({ lines }) => lines)) io.line(line);
    if (tried.some(({ isFailed }) => isFailed)) endWith(exitCodes.failed);
  } finally {
    await close();
  }
}

/** Reads the names first, so that only the secrets of those that are tried have to be there. */
function wantedReceivers({ filename, receiver }: Options): readonly string[] {
  const { names } = setupOf({ filename }, () => false).setup;
  if (receiver === undefined) {
    if (names.length === 0) throw new CliError(`${filename} has no receivers`);
    return names;
  }
  if (names.includes(receiver)) return [receiver];
  const meant = nearest(receiver, names);
  const hint = meant === undefined ? `there are ${names.join(', ') || 'none'}` : `did you mean ${meant}?`;
  throw new CliError(`${filename} has no receiver ${receiver}: ${hint}`, exitCodes.notFound);
}

function setupOf(
  { filename, allowExec }: Options,
  isWanted: (receiver: string) => boolean,
): { readonly setup: ConfigSetup; readonly allows: AllowList | undefined } {
  try {
    const allows = allowExec === undefined ? undefined : readAllowList(allowExec);
    return { setup: readConfigFile(filename, { isWanted, allows }), allows };
  } catch (error) {
    if (!(error instanceof InvalidOption)) throw error;
    const lines = error.message.split('\n').map((line) => line.replace(`${configOption}: `, ''));
    const [first = '', ...more] = lines;
    throw new CliError(first, exitCodes.failed, more);
  }
}

async function tryReceiver(
  name: string,
  send: Sender['send'],
  io: CommandSetting['io'],
): Promise<{ readonly lines: readonly string[]; readonly isFailed: boolean }> {
  const id = `test-${io.random.uuid()}`;
  const lines: string[] = [];
  for (const notification of testNotifications(name, id, io.clock.nowMs())) {
    const outcome = await sentInTime(name, notification, send);
    lines.push(`${name}: ${notification.kind} ${outcomeText(outcome)}`);
    if (outcome.kind !== 'delivered') return { lines, isFailed: true };
  }
  return { lines, isFailed: false };
}

async function sentInTime(name: string, notification: Notification, send: Sender['send']): Promise<SendOutcome> {
  const signal = AbortSignal.timeout(sendMsMax);
  const outcome = await send(name, notification, signal);
  return signal.aborted ? { kind: 'failed', why: `no answer within ${sendMsMax / 1_000} s` } : outcome;
}

function outcomeText(outcome: SendOutcome): string {
  const said = outcome.answer === undefined ? '' : `: ${outcome.answer}`;
  switch (outcome.kind) {
    case 'delivered':
      return `accepted${said}`;
    case 'failed':
      return `failed, ${outcome.why}${said}`;
    case 'refused':
      return `refused, ${outcome.why}${said}`;
  }
}
