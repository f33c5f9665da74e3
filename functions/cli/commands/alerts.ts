/** `probelet alerts test`: tries the receivers of a configuration. Exit code 1: one of them did not accept. */
import { Command } from 'commander';
import type { Notification } from '../../../shared/alerts/alert-state.ts';
import { type SendOutcome, sendMsMax } from '../../../shared/alerts/delivery.ts';
import { testNotifications } from '../../../shared/alerts/test-notifications.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import { nearest } from '../../../shared/lib/nearest.ts';
import type { Sender } from '../../local/alert-sender.ts';
import { type ConfigSetup, configOption, readConfigFile } from '../../local/config-file.ts';
import { InvalidOption, readAllowList } from '../../local/option-values.ts';
import { CliError, exitCodes } from '../exit-codes.ts';
import type { CommandSetting } from '../program.ts';

type Options = { readonly filename: string; readonly receiver?: string; readonly allowExec?: string };

const examples = `
Examples:
  probelet alerts test -f probelet.yaml
  probelet alerts test -f probelet.yaml --receiver on-call`;

export function alertsCommand(setting: CommandSetting): Command {
  const command = new Command('alerts')
    .description('the alerts of a configuration')
    .helpCommand(false)
    .addHelpText('after', examples);
  command
    .command('test')
    .description('send a test notification and its end to each receiver, and print what each answered')
    .requiredOption('-f, --filename <file>', "the configuration of 'start --config'")
    .option('--receiver <name>', 'only this receiver')
    .option('--allow-exec <file>', 'the commands that receivers may run, as for start')
    .addHelpText('after', examples)
    .action((options: Options) => tryReceivers(setting, options));
  return command;
}

async function tryReceivers({ io, endWith }: CommandSetting, options: Options): Promise<void> {
  const names = wantedReceivers(options);
  const { allows, setup } = setupOf(options, (name) => names.includes(name));
  // The senders are loaded only here, because no other command needs them.
  const { alertSender } = await import('../../local/alert-sender.ts');
  const { send, close } = alertSender(setup.alerts.receivers, { clock: io.clock, allows });
  try {
    const tried = await Promise.all(names.map((name) => triedLines(name, send, io)));
    io.out(tried.flatMap(({ lines }) => lines.map((line) => `${line}\n`)).join(''));
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

type Read = { readonly setup: ConfigSetup; readonly allows: AllowList | undefined };

function setupOf({ filename, allowExec }: Options, isWanted: (receiver: string) => boolean): Read {
  try {
    const allows = allowExec === undefined ? undefined : readAllowList(allowExec);
    return { setup: readConfigFile(filename, { isWanted, allows }), allows };
  } catch (error) {
    if (!(error instanceof InvalidOption)) throw error;
    const lines = error.message.split('\n').map((line) => line.replace(`${configOption}: `, ''));
    throw new CliError(lines.join('\nerror: '));
  }
}

type Tried = { readonly lines: readonly string[]; readonly isFailed: boolean };

async function triedLines(name: string, send: Sender['send'], io: CommandSetting['io']): Promise<Tried> {
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
