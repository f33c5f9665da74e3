/** `probelet context`: named servers, with the file of their token. */
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { type Config, type Context, configPath, contextsMax, readConfig, writeConfig } from '../config-file.ts';
import { serverOf } from '../connection.ts';
import { CliError, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import type { CommandSetting } from '../program.ts';
import { tableText } from '../tables.ts';

type Added = { readonly url: string; readonly tokenFile?: string; readonly namespace?: string };

/** A context that is gone is no wrong use. */
const noContext = (name: string, { contexts }: Config): CliError => {
  const known = contexts.map((each) => each.name).join(', ');
  const next = known === '' ? "add it by 'probelet context add NAME --url URL'" : `there are ${known}`;
  return new CliError(`there is no context ${name}: ${next}`, exitCodes.notFound);
};

export function contextCommand({ io }: CommandSetting): Command {
  const command = new Command('context')
    .description('named servers, so that a command need not name one')
    .helpCommand(false);
  command
    .command('list')
    .description('the contexts')
    .action(() => io.out(listText(io)));
  command
    .command('use')
    .description('make a context the current one')
    .argument('<name>', 'a context')
    .action((name: string) => use(io, name));
  command
    .command('add')
    .description('add a context, or replace the one of this name; the first becomes the current one')
    .argument('<name>', 'its name', checkedName)
    .requiredOption('--url <url>', 'the address of the API, or unix:PATH', checkedUrl)
    .option('--token-file <file>', 'the file of its token')
    .option('-n, --namespace <name>', 'the namespace of its commands')
    .action((name: string, added: Added) => add(io, name, added));
  command
    .command('delete')
    .description('delete a context')
    .argument('<name>', 'a context')
    .action((name: string) => remove(io, name));
  return command;
}

function checkedName(name: string): string {
  if (/^[\w.-]{1,63}$/.test(name)) return name;
  throw new InvalidArgumentError('must be at most 63 letters, digits, dots, hyphens and underscores');
}

function checkedUrl(text: string): string {
  serverOf(text);
  return text;
}

function listText(io: Io): string {
  const config = readConfig(io.env);
  const rows = config.contexts.map((each) => [
    each.name === config['current-context'] ? '*' : '',
    each.name,
    each.server,
    each.namespace ?? '',
    each['token-file'] ?? '',
  ]);
  return tableText([['CURRENT', 'NAME', 'SERVER', 'NAMESPACE', 'TOKEN-FILE'], ...rows], io);
}

function use(io: Io, name: string): void {
  const config = readConfig(io.env);
  if (!config.contexts.some((each) => each.name === name)) throw noContext(name, config);
  writeConfig(io.env, { ...config, 'current-context': name });
  io.out(`context/${name} is now the current one\n`);
}

function add(io: Io, name: string, { url, tokenFile, namespace }: Added): void {
  const config = readConfig(io.env);
  const context: Context = {
    name,
    server: url,
    // Commands run in any folder.
    ...(tokenFile !== undefined && { 'token-file': resolve(tokenFile) }),
    ...(namespace !== undefined && { namespace }),
  };
  const others = config.contexts.filter((each) => each.name !== name);
  if (others.length === contextsMax)
    throw new CliError(`${configPath(io.env)} has ${contextsMax} contexts; delete one`);
  const isNew = others.length === config.contexts.length;
  writeConfig(io.env, { 'current-context': config['current-context'] ?? name, contexts: [...others, context] });
  io.out(`context/${name} ${isNew ? 'added' : 'replaced'}\n`);
}

function remove(io: Io, name: string): void {
  const { 'current-context': current, contexts } = readConfig(io.env);
  const others = contexts.filter((each) => each.name !== name);
  if (others.length === contexts.length) throw noContext(name, { contexts });
  writeConfig(io.env, {
    ...(current !== undefined && current !== name && { 'current-context': current }),
    contexts: others,
  });
  io.out(`context/${name} deleted\n`);
}
