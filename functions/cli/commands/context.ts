/** `probelet context`: named servers, with the file of their token or the way to sign requests to them. */
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { isRegion, regionOfHost } from '../../client/aws-region.ts';
import type { CommandSetting, Io } from '../io.ts';
import type { Printable } from '../printing/printable.ts';
import { tableText } from '../printing/tables.ts';
import { type AuthKind, authKinds } from '../server/aws-access.ts';
import { stackApi } from '../server/aws-stack.ts';
import { type Config, type Context, configPath, contextsMax, readConfig, writeConfig } from '../server/config-file.ts';
import { serverOf } from '../server/connection.ts';
import { CliError, exitCodes, WrongUse } from '../words/exit-codes.ts';

type AddOptions = {
  readonly url?: string;
  readonly stack?: string;
  readonly auth?: AuthKind;
  readonly region?: string;
  readonly profile?: string;
  readonly tokenFile?: string;
  readonly namespace?: string;
};

/** A context that is gone is no wrong use. */
const noContext = (name: string, { contexts }: Config): CliError => {
  const known = contexts.map((each) => each.name).join(', ');
  const next = known === '' ? "add it by 'probelet context add NAME --url URL'" : `there are ${known}`;
  return new CliError(`there is no context ${name}: ${next}`, exitCodes.notFound);
};

const examples = `
Examples:
  probelet context add here --url http://127.0.0.1:8080 --token-file token
  probelet context add prod --stack Probelet --region eu-west-1 --profile prod
  probelet context use prod
  probelet context list`;

const addExamples = `
Examples:
  probelet context add here --url http://127.0.0.1:8080 --token-file token
  probelet context add prod --stack Probelet --region eu-west-1 --profile prod
  probelet context add prod --url https://probelet.example.com --auth aws --region eu-west-1`;

const exampleOf = (line: string): string => `\nExample:\n  probelet context ${line}`;

export function contextCommand({ io }: CommandSetting): Command {
  const command = new Command('context')
    .description('named servers, so that a command need not name one')
    .helpCommand(false)
    .addHelpText('after', examples);
  command
    .command('list')
    .description('the contexts')
    .addHelpText('after', exampleOf('list'))
    .action(() => io.out(listText(io)));
  command
    .command('use')
    .description('make a context the current one')
    .addHelpText('after', exampleOf('use shop'))
    .argument('<context>', 'its name')
    .action((name: string) => use(io, name));
  command
    .command('add')
    .description('add a context, or replace the one of this name; the first becomes the current one')
    .argument('<new-name>', 'its name', checkedName)
    .option('--url <url>', 'the address of the API, or unix:PATH', checkedUrl)
    .option('--stack <name>', 'in place of --url: the CloudFormation stack whose output ApiUrl is the address')
    .option('--token-file <file>', 'the file of its token')
    .addOption(new Option('--auth <kind>', 'how requests say who asks (default with --stack: aws)').choices(authKinds))
    .option(
      '--region <region>',
      'of the stack, and of signatures (default: that of the address, AWS_REGION)',
      checkedRegion,
    )
    .option('--profile <name>', 'whose AWS credentials sign (default: those of the environment)')
    .option('-n, --namespace <name>', 'the namespace of its commands')
    .addHelpText('after', addExamples)
    .action((name: string, options: AddOptions) => add(io, name, options));
  command
    .command('delete')
    .description('delete a context')
    .addHelpText('after', exampleOf('delete shop'))
    .argument('<context>', 'its name')
    .action((name: string) => remove(io, name));
  return command;
}

function checkedName(name: string): string {
  if (/^[\w.-]{1,63}$/.test(name)) return name;
  throw new InvalidArgumentError('must be at most 63 letters, digits, dots, hyphens and underscores');
}

function checkedRegion(text: string): string {
  if (isRegion(text)) return text;
  throw new InvalidArgumentError('must be a region of AWS, such as eu-west-1');
}

function checkedUrl(text: string): string {
  serverOf(text);
  return text;
}

function listText(io: Io): Printable {
  const config = readConfig(io.env);
  const rows = config.contexts.map((each) => [
    each.name === config['current-context'] ? '*' : '',
    each.name,
    each.server,
    each.namespace ?? '',
    each['token-file'] ?? '',
    [each.auth, each.region, each.profile].filter((part) => part !== undefined).join(' '),
  ]);
  return tableText([['CURRENT', 'NAME', 'SERVER', 'NAMESPACE', 'TOKEN-FILE', 'AUTH'], ...rows], io);
}

function use(io: Io, name: string): void {
  const config = readConfig(io.env);
  if (!config.contexts.some((each) => each.name === name)) throw noContext(name, config);
  writeConfig(io.env, { ...config, 'current-context': name });
  io.line(`context/${name} is now the current one`);
}

async function add(io: Io, name: string, options: AddOptions): Promise<void> {
  const { tokenFile, namespace, profile } = options;
  const place = await placeOf(options, io);
  const context: Context = {
    name,
    server: place.url,
    // Commands run in any folder.
    ...(tokenFile !== undefined && { 'token-file': resolve(tokenFile) }),
    ...(namespace !== undefined && { namespace }),
    ...(place.auth !== undefined && { auth: place.auth }),
    ...(place.auth === 'aws' && place.region !== undefined && { region: place.region }),
    ...(place.auth === 'aws' && profile !== undefined && { profile }),
  };
  const config = readConfig(io.env);
  const others = config.contexts.filter((each) => each.name !== name);
  if (others.length === contextsMax)
    throw new CliError(`${configPath(io.env)} has ${contextsMax} contexts; delete one`);
  const isNew = others.length === config.contexts.length;
  writeConfig(io.env, { 'current-context': config['current-context'] ?? name, contexts: [...others, context] });
  const found = options.stack === undefined ? '' : `: ${place.url}, region ${place.region}`;
  io.line(`context/${name} ${isNew ? 'added' : 'replaced'}${found}`);
}

/** @throws CliError for options that do not go together */
async function placeOf(
  { url, stack, auth, tokenFile, region, profile }: AddOptions,
  io: Io,
): Promise<{ readonly url: string; readonly auth?: AuthKind; readonly region?: string }> {
  if (stack !== undefined && url !== undefined) throw new WrongUse('--url does not go with --stack');
  if (stack !== undefined) {
    const found = await stackApi(stack, { region, profile }, io);
    return { ...found, auth: auth ?? (tokenFile === undefined ? 'aws' : 'token') };
  }
  if (url === undefined) throw new WrongUse('give the address by --url, or the stack of a deployment by --stack');
  if (auth !== 'aws' && (region ?? profile) !== undefined)
    throw new WrongUse('--region and --profile need --stack or --auth aws');
  const ofHost = URL.canParse(url) ? regionOfHost(new URL(url)) : undefined;
  if (ofHost !== undefined && region !== undefined && ofHost !== region)
    throw new WrongUse(`--region: the address is one of region ${ofHost}`);
  return { url, ...(auth !== undefined && { auth }), ...(region !== undefined && { region }) };
}

function remove(io: Io, name: string): void {
  const { 'current-context': current, contexts } = readConfig(io.env);
  const others = contexts.filter((each) => each.name !== name);
  if (others.length === contexts.length) throw noContext(name, { contexts });
  writeConfig(io.env, {
    ...(current !== undefined && current !== name && { 'current-context': current }),
    contexts: others,
  });
  io.line(`context/${name} deleted`);
}
