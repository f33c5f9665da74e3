/** The command line `probelet`: its commands, and how each of them ends. */
import { Command, CommanderError } from 'commander';
import { ClientError } from '../client/client-error.ts';
import { productVersion } from '../product-version.ts';
import { type CommandSetting, gatedIo, type Io, type Streams } from './io.ts';
import { ownText } from './printing/printable.ts';
import { connectionOptions } from './server/connection.ts';
import { CliError, type ExitCode, exitCodes } from './words/exit-codes.ts';
import { commanderWords, fileCommands, kubectlHint } from './words/kubectl-words.ts';

type MadeBy = (setting: CommandSetting) => Command;

/** Each in a module of its own, which is read only where the command is needed: reading all takes most of a call. */
const commands: { readonly [name: string]: () => Promise<MadeBy> } = {
  start: async () => (await import('./commands/start.ts')).startCommand,
  apply: async () => (await import('./commands/apply.ts')).applyCommand,
  diff: async () => (await import('./commands/diff.ts')).diffCommand,
  get: async () => (await import('./commands/get.ts')).getCommand,
  describe: async () => (await import('./commands/describe.ts')).describeCommand,
  explain: async () => (await import('./commands/explain.ts')).explainCommand,
  events: async () => (await import('./commands/events.ts')).eventsCommand,
  edit: async () => (await import('./commands/edit.ts')).editCommand,
  delete: async () => (await import('./commands/delete.ts')).deleteCommand,
  wait: async () => (await import('./commands/wait.ts')).waitCommand,
  probe: async () => (await import('./commands/probe.ts')).probeCommand,
  try: async () => (await import('./commands/try.ts')).tryCommand,
  simulate: async () => (await import('./commands/simulate.ts')).simulateCommand,
  lint: async () => (await import('./commands/lint.ts')).lintCommand,
  convert: async () => (await import('./commands/convert.ts')).convertCommand,
  cost: async () => (await import('./commands/cost.ts')).costCommand,
  alerts: async () => (await import('./commands/alerts.ts')).alertsCommand,
  context: async () => (await import('./commands/context.ts')).contextCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
  version: async () => (await import('./commands/version.ts')).versionCommand,
};

/** All commands, or those that are named. For `--help`, the reference and the completion too. */
export async function programOf(setting: CommandSetting, names = Object.keys(commands)): Promise<Command> {
  const program = new Command('probelet')
    .description("kubelet's prober without the kubelet: probes with Kubernetes' semantics for anything with an address")
    .version(productVersion)
    .helpCommand(false)
    .showHelpAfterError(false)
    // Otherwise the program would take options that a command has, too, such as --token-file of start.
    .enablePositionalOptions();
  for (const option of connectionOptions()) program.addOption(option);
  for (const name of names) {
    const made = await commands[name]?.();
    if (made) program.addCommand(made(setting));
  }
  if (names.length > 1) {
    const { completeCommand } = await import('./commands/completion.ts');
    program.addCommand(completeCommand(setting), { hidden: true });
  }
  for (const each of withSubcommands(program)) {
    each.exitOverride().configureOutput({
      writeOut: (text) => setting.io.out(ownText(text)),
      // What was wrong is printed once, where the command ends.
      outputError: () => undefined,
      writeErr: (text) => {
        for (const line of text.trimEnd().split('\n')) setting.io.err(line);
      },
    });
  }
  return program;
}

const withSubcommands = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];

/** Runs one command line, without the name of the program. Returns its exit code; prints no stack traces. */
export async function runCli(line: readonly string[], streams: Streams): Promise<ExitCode> {
  const io = gatedIo(streams);
  const args = line[0] === 'help' ? helpLine(line.slice(1)) : line;
  let exitCode: ExitCode = exitCodes.ok;
  try {
    const command = commandIn(args);
    const names = Object.hasOwn(commands, command) ? [command] : undefined;
    const program = await programOf({ io, endWith: (code) => (exitCode = code) }, names);
    const named = program.commands.find((each) => each.name() === command);
    const words = named ? commanderWords(args, named) : args;
    await program.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (error) {
    return failed(error, args, io);
  }
}

/** `help get` is `get --help`. */
const helpLine = (words: readonly string[]): readonly string[] =>
  words.length === 0 || Object.hasOwn(commands, words[0] ?? '') ? [...words, '--help'] : words;

/** The first word that is neither an option of the program nor the value of one. */
function commandIn(args: readonly string[]): string {
  const valued = connectionOptions().flatMap(({ short, long }) => [short, long]);
  return args.find((word, at) => !word.startsWith('-') && (at === 0 || !valued.includes(args[at - 1]))) ?? '';
}

function failed(error: unknown, args: readonly string[], { err }: Io): ExitCode {
  const [command = ''] = args;
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok;
    if (error.code !== 'commander.help') err(wrongUseLine(...wrongUseOf(error, args)));
    return exitCodes.wrongUse;
  }
  if (error instanceof CliError) {
    err(error.exitCode === exitCodes.wrongUse ? wrongUseLine(error.message, command) : `error: ${error.message}`);
    for (const line of error.more) err(`error: ${line}`);
    return error.exitCode;
  }
  if (error instanceof ClientError) {
    err(`error: ${error.message}`);
    return error.status === 404 ? exitCodes.notFound : exitCodes.failed;
  }
  err(`error: ${error instanceof Error ? error.message : String(error)}`);
  return exitCodes.failed;
}

/** What is wrong, and the command whose help says more. */
function wrongUseOf({ code, message }: CommanderError, args: readonly string[]): readonly [string, string] {
  const command = commandIn(args);
  if (code === 'commander.unknownCommand') return [kubectlHint(command) ?? message, ''];
  const isFileNamed = code === 'commander.excessArguments' || code === 'commander.missingMandatoryOptionValue';
  if (isFileNamed && fileCommands.includes(command) && args.some((word) => !word.startsWith('-') && word !== command))
    return [`files stand behind -f, as in 'probelet ${command} -f FILE'`, command];
  return [message, command];
}

function wrongUseLine(message: string, command: string): string {
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ');
  const help = command === '' || command.startsWith('-') ? 'probelet --help' : `probelet ${command} --help`;
  return `error: ${text}${/[.)?]$/.test(text) ? '' : '.'} See '${help}'.`;
}
