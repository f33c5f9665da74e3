/** The command line `probelet`: its commands, and how each of them ends. */
import { Command, CommanderError } from 'commander';
import { ClientError } from '../client/client-error.ts';
import { productVersion } from '../product-version.ts';
import { alertsCommand } from './commands/alerts.ts';
import { applyCommand } from './commands/apply.ts';
import { completeCommand, completionCommand } from './commands/completion.ts';
import { contextCommand } from './commands/context.ts';
import { convertCommand } from './commands/convert.ts';
import { costCommand } from './commands/cost.ts';
import { deleteCommand } from './commands/delete.ts';
import { describeCommand } from './commands/describe.ts';
import { doctorCommand } from './commands/doctor.ts';
import { editCommand } from './commands/edit.ts';
import { eventsCommand } from './commands/events.ts';
import { getCommand } from './commands/get.ts';
import { lintCommand } from './commands/lint.ts';
import { probeCommand } from './commands/probe.ts';
import { simulateCommand } from './commands/simulate.ts';
import { startCommand } from './commands/start.ts';
import { tryCommand } from './commands/try.ts';
import { versionCommand } from './commands/version.ts';
import { waitCommand } from './commands/wait.ts';
import { connectionOptions } from './connection.ts';
import { CliError, type ExitCode, exitCodes } from './exit-codes.ts';
import type { Io } from './io.ts';

/** A command ends by itself with `ok`, or says otherwise. */
export type EndWith = (code: ExitCode) => void;

export type CommandSetting = { readonly io: Io; readonly endWith: EndWith };

const commands: readonly ((setting: CommandSetting) => Command)[] = [
  startCommand,
  applyCommand,
  getCommand,
  describeCommand,
  eventsCommand,
  editCommand,
  deleteCommand,
  waitCommand,
  probeCommand,
  tryCommand,
  simulateCommand,
  lintCommand,
  convertCommand,
  costCommand,
  alertsCommand,
  contextCommand,
  doctorCommand,
  completionCommand,
  versionCommand,
];

/** All commands. For `--help`, the reference and the completion too. */
export function programOf(setting: CommandSetting): Command {
  const program = new Command('probelet')
    .description("kubelet's prober without the kubelet: probes with Kubernetes' semantics for anything with an address")
    .version(productVersion)
    .helpCommand(false)
    .showHelpAfterError(false)
    // Otherwise options of the program would be taken from the arguments that `start` passes on.
    .enablePositionalOptions();
  for (const option of connectionOptions()) program.addOption(option);
  for (const command of commands) program.addCommand(command(setting));
  program.addCommand(completeCommand(setting), { hidden: true });
  for (const each of withSubcommands(program)) {
    each.exitOverride().configureOutput({
      writeOut: setting.io.out,
      // What was wrong is printed once, where the command ends.
      outputError: () => undefined,
      writeErr: (text) => setting.io.err(text.trimEnd()),
    });
  }
  return program;
}

const withSubcommands = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];

/** Runs one command line, without the name of the program. Returns its exit code; prints no stack traces. */
export async function runCli(args: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.ok;
  const program = programOf({ io, endWith: (code) => (exitCode = code) });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return failed(error, args, io);
  }
}

function failed(error: unknown, args: readonly string[], { err }: Io): ExitCode {
  const [command = ''] = args;
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok;
    const known = error.code === 'commander.unknownCommand' ? '' : command;
    if (error.code !== 'commander.help') err(wrongUseLine(error.message, known));
    return exitCodes.wrongUse;
  }
  if (error instanceof CliError) {
    err(error.exitCode === exitCodes.wrongUse ? wrongUseLine(error.message, command) : `error: ${error.message}`);
    return error.exitCode;
  }
  if (error instanceof ClientError) {
    err(`error: ${error.message}`);
    return error.status === 404 ? exitCodes.notFound : exitCodes.failed;
  }
  err(`error: ${error instanceof Error ? error.message : String(error)}`);
  return exitCodes.failed;
}

function wrongUseLine(message: string, command: string): string {
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ');
  const help = command === '' || command.startsWith('-') ? 'probelet --help' : `probelet ${command} --help`;
  return `error: ${text}${/[.)?]$/.test(text) ? '' : '.'} See '${help}'.`;
}
