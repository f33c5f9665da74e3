/** The command line of `npm start`. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseArgs } from 'node:util';
import { type AllowList, parseAllowList } from '../../shared/exec/allow-list.ts';

export type LocalOptions = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly token?: string;
  /** Absent: exec probes are refused. */
  readonly allowExec?: AllowList;
};

export type ParsedOptions =
  | { readonly kind: 'ok'; readonly options: LocalOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly message: string };

export const usage = `usage: npm start [-- OPTION …]

  --port PORT         where the API listens (default 8080; 0: any free port)
  --host ADDRESS      on which address (default 127.0.0.1; any other needs --token-file)
  --data-dir FOLDER   where the targets and their results are kept (default .probelet)
  --token-file FILE   the bearer token that every request but /healthz has to carry
  --allow-exec FILE   the commands that exec probes may run, one a line: an absolute path, or a JSON array that must match exactly
  --help              this text
`;

const tokenLengthMin = 16;

class InvalidOption extends Error {}

export function parseOptions(args: readonly string[]): ParsedOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string', default: '8080' },
        host: { type: 'string', default: '127.0.0.1' },
        'data-dir': { type: 'string', default: '.probelet' },
        'token-file': { type: 'string' },
        'allow-exec': { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return { kind: 'help' };
    const token = values['token-file'] === undefined ? undefined : readToken(values['token-file']);
    const allowExec = values['allow-exec'] === undefined ? undefined : readAllowList(values['allow-exec']);
    return {
      kind: 'ok',
      options: {
        host: validHost(values.host, token),
        port: validPort(values.port),
        dataDir: values['data-dir'],
        ...(token !== undefined && { token }),
        ...(allowExec && { allowExec }),
      },
    };
  } catch (error) {
    if (error instanceof InvalidOption || isParseError(error)) return { kind: 'invalid', message: error.message };
    throw error;
  }
}

const isParseError = (error: unknown): error is Error =>
  error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');

function validPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidOption(`--port: ${text} is not a port (0 to 65535)`);
  return port;
}

function validHost(host: string, token: string | undefined): string {
  if (isIP(host) === 0 && host !== 'localhost') throw new InvalidOption(`--host: ${host} is not an IP address`);
  const loopback = host === 'localhost' || host === '::1' || host.startsWith('127.');
  if (!loopback && token === undefined) {
    throw new InvalidOption(`--host: ${host} is reachable from elsewhere, so it needs --token-file FILE`);
  }
  return host;
}

function readToken(path: string): string {
  const token = readText('--token-file', path).trim();
  if (token.length < tokenLengthMin)
    throw new InvalidOption(`--token-file: the token in ${path} has fewer than ${tokenLengthMin} characters`);
  return token;
}

function readAllowList(path: string): AllowList {
  const parsed = parseAllowList(readText('--allow-exec', path));
  if (parsed.kind === 'invalid')
    throw new InvalidOption(`--allow-exec: ${path}, line ${parsed.line}: ${parsed.detail}`);
  return parsed.allows;
}

function readText(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new InvalidOption(
      `${option}: cannot read ${path} (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
    );
  }
}
