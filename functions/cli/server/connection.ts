/** Which server a command talks to, with which token and in which namespace. */

import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { withoutUserinfo } from '../../../shared/lib/visible-text.ts';
import type { ApiClient } from '../../client/api-client.ts';
import { regionOfHost } from '../../client/aws-region.ts';
import type { Io } from '../io.ts';
import { CliError, exitCodes } from '../words/exit-codes.ts';
import { milliseconds } from '../words/option-values.ts';
import { type AuthKind, type AwsAccess, authKinds, regionOf, signerOf } from './aws-access.ts';
import { type Context, readConfig } from './config-file.ts';

export type ConnectionFlags = {
  readonly context?: string;
  readonly server?: Server;
  readonly tokenFile?: string;
  readonly auth?: AuthKind;
  readonly namespace?: string;
  readonly requestTimeout?: number;
};

/** `socketPath`: of `unix:PATH`. */
export type Server = { readonly url: URL; readonly socketPath?: string };

export type Connection = {
  readonly server: Server;
  readonly token?: string;
  /** Requests are signed. */
  readonly aws?: AwsAccess;
  /** The namespace of targets that name none. */
  readonly namespace: string;
  /** Whether the command line names it. */
  readonly isNamespaceGiven: boolean;
  readonly timeoutMs: number;
};

const serverDefault = 'http://127.0.0.1:8080';
const namespaceDefault = 'default';
/** A bulk registration may take 20 s. */
const timeoutMsDefault = 30_000;
const tokenBytesMax = 64 * 1024;
/** Characters of a list that a command keeps to sort it: a hundred thousand targets of usual size. */
export const listCharactersMax = 256 * 1024 * 1024;

/** Options of every command that talks to the API. They may also precede the name of the command. */
export const connectionOptions = (): readonly Option[] => [
  new Option('--context <name>', 'a context of the configuration file'),
  new Option(
    '--server <url>',
    `the address of the API, or unix:PATH (default: PROBELET_URL, the context, ${serverDefault})`,
  ).argParser(serverOf),
  new Option('--token-file <file>', 'the token of the API (default: PROBELET_TOKEN, PROBELET_TOKEN_FILE, the context)'),
  new Option(
    '--auth <kind>',
    'how requests say who asks (default: that of the context; aws for an address of API Gateway; the token if there is one)',
  ).choices(authKinds),
  new Option('-n, --namespace <name>', `the namespace (default: that of the context, ${namespaceDefault})`),
  new Option(
    '--request-timeout <duration>',
    `how long one request may take, such as 5s (default: ${timeoutMsDefault / 1_000}s)`,
  ).argParser(milliseconds),
];

/** A command that talks to the API. */
export function apiCommand(name: string): Command {
  const command = new Command(name);
  for (const option of connectionOptions()) command.addOption(option.helpGroup('Connection:'));
  return command;
}

/** @throws InvalidArgumentError */
export function serverOf(text: string): Server {
  if (text.startsWith('unix:')) return { url: new URL('http://localhost'), socketPath: text.slice('unix:'.length) };
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new InvalidArgumentError('must be an http or https URL, or unix:PATH');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new InvalidArgumentError('must have no user, query or fragment; a token stands in a file');
  return { url };
}

/** @throws CliError */
export function connectionOf(flags: ConnectionFlags, env: Io['env']): Connection {
  const { server, context } = placeOf(flags, env);
  return {
    server,
    ...authorizationOf(flags, server, context, env),
    namespace: flags.namespace ?? context?.namespace ?? namespaceDefault,
    isNamespaceGiven: flags.namespace !== undefined,
    timeoutMs: flags.requestTimeout ?? timeoutMsDefault,
  };
}

/** An option precedes the environment, which precedes the current context. */
function placeOf(
  { server, context }: ConnectionFlags,
  env: Io['env'],
): { readonly server: Server; readonly context?: Context } {
  if (server) return { server };
  if (context === undefined && (env.PROBELET_URL ?? '') !== '')
    return { server: checkedServer('PROBELET_URL', env.PROBELET_URL ?? '') };
  const config = readConfig(env);
  const name = context ?? config['current-context'];
  if (name === undefined) return { server: checkedServer('default', serverDefault) };
  const found = config.contexts.find((each) => each.name === name);
  if (!found)
    throw new CliError(
      `there is no context ${name}: choose one of 'probelet context list' by 'probelet context use NAME'`,
    );
  return { server: checkedServer(`context ${name}`, found.server), context: found };
}

function checkedServer(source: string, text: string): Server {
  try {
    return serverOf(text);
  } catch (error) {
    if (error instanceof InvalidArgumentError)
      throw new CliError(`${source}: ${withoutUserinfo(text)} ${error.message}`, exitCodes.wrongUse);
    throw error;
  }
}

/** Requests to an API of API Gateway are signed, unless there is a token for another authorizer. */
function authorizationOf(
  flags: ConnectionFlags,
  server: Server,
  context: Context | undefined,
  env: Io['env'],
): { readonly token?: string; readonly aws?: AwsAccess } {
  const kind = flags.auth ?? context?.auth;
  if (kind === 'none') return {};
  const aws = { region: context?.region, profile: context?.profile };
  if (kind === 'aws') return { aws };
  const token = tokenOf(flags, context, env);
  if (token !== undefined) return { token };
  if (kind === 'token') throw new CliError('there is no token: give its file by --token-file, or set PROBELET_TOKEN');
  return regionOfHost(server.url) === undefined ? {} : { aws };
}

/** The token of a context goes to the server of that context only. */
function tokenOf({ tokenFile }: ConnectionFlags, context: Context | undefined, env: Io['env']): string | undefined {
  if (tokenFile !== undefined) return tokenIn(tokenFile, '--token-file');
  const ofContext = context?.['token-file'];
  if (context && ofContext !== undefined) return tokenIn(ofContext, `context ${context.name}`);
  if ((env.PROBELET_TOKEN ?? '') !== '') return checkedToken(env.PROBELET_TOKEN ?? '', 'PROBELET_TOKEN');
  const file = env.PROBELET_TOKEN_FILE ?? '';
  return file === '' ? undefined : tokenIn(file, 'PROBELET_TOKEN_FILE');
}

function tokenIn(path: string, source: string): string {
  try {
    const bytes = readFileSync(path);
    if (bytes.length <= tokenBytesMax) return checkedToken(bytes.toString('utf8').trim(), source);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new CliError(`${source}: ${path} cannot be read (${code}); name the file with the token`);
  }
  throw new CliError(`${source}: ${path} is too large for a token; name the file with the token`);
}

/** The error omits the token. */
function checkedToken(token: string, source: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new CliError(`${source}: the token must be one word of printable ASCII characters`);
}

/** The connection of a command and the client on it. */
export type Session = Connection & { readonly client: ApiClient };

/**
 * The client is loaded on demand, because commands on files need none. `stop` ends its requests, and then the use of
 * the session without an error.
 */
export async function withSession(
  connection: Connection,
  { io, stop }: { readonly io: Io; readonly stop?: AbortSignal },
  use: (session: Session) => Promise<void>,
): Promise<void> {
  const { apiClient } = await import('../../client/api-client.ts');
  const { server, token, aws, timeoutMs } = connection;
  const { clock, random, env } = io;
  if (token !== undefined) io.hide(() => [token]);
  const signer = aws && (await signerOf(io, aws, await regionOf(aws, server.url), timeoutMs));
  const client = apiClient({
    ...server,
    token,
    signer,
    stop,
    listCharactersMax,
    timeoutMs,
    clock,
    random,
    env,
  });
  try {
    await use({ ...connection, client });
  } catch (error) {
    if (stop?.aborted !== true) throw error;
  } finally {
    await client.close();
  }
}

/** The options of a command, and those before its name. */
export const flagsOf = (command: Command): ConnectionFlags => ({ ...command.parent?.opts(), ...command.opts() });
