/**
 * The port that a tool of a database or broker asks, for a healthcheck that only runs in its container: that something
 * listens there is less than what the tool asks, but far more than nothing.
 */

type Tool = {
  /** The last part of the program's path. */
  readonly name: RegExp;
  readonly port: number;
  /** The options for host and port. */
  readonly host: readonly string[];
  readonly portOption: readonly string[];
};

const hostOption = ['-h', '--host'];

const tools: readonly Tool[] = [
  { name: /^pg_isready$/, port: 5432, host: hostOption, portOption: ['-p', '--port'] },
  { name: /^(redis|valkey|keydb)-cli$/, port: 6379, host: ['-h'], portOption: ['-p'] },
  { name: /^(mysqladmin|mariadb-admin)$/, port: 3306, host: hostOption, portOption: ['-P', '--port'] },
  { name: /^(mongosh|mongo)$/, port: 27_017, host: ['--host'], portOption: ['--port'] },
  { name: /^rabbitmq-diagnostics$/, port: 5672, host: [], portOption: [] },
  // The script in the image of MariaDB.
  { name: /^healthcheck\.sh$/, port: 3306, host: [], portOption: [] },
];

/** Words that are the tool's own way not to ask the server. */
const notAsking = /^(--help|--version|-V|-\?)$/;

/** `names`: hosts that mean the container itself. Undefined: it is no such tool, or asks another host. */
export function portOfTool(command: readonly string[], names: readonly string[]): number | undefined {
  const [program = '', ...args] = wordsOf(command) ?? [];
  const base = program.slice(program.lastIndexOf('/') + 1);
  const tool = tools.find(({ name }) => name.test(base));
  if (!tool || args.length === 0 || args.some((word) => notAsking.test(word))) return bare(tool, args);
  const host = optionOf(args, tool.host);
  const port = optionOf(args, tool.portOption);
  if (host !== undefined && !names.includes(host) && !host.startsWith('/')) return undefined;
  if (args.some((word) => word.includes('://'))) return undefined;
  const [, named, asked = port] = args.map((word) => /^([\w.-]+):(\d{1,5})(?:\/.*)?$/.exec(word)).find(Boolean) ?? [];
  if (named !== undefined && !names.includes(named)) return undefined;
  if (asked === undefined) return tool.port;
  return /^\d{1,5}$/.test(asked) ? Number(asked) : undefined;
}

/** `pg_isready` asks without arguments, too. */
const bare = (tool: Tool | undefined, args: readonly string[]): number | undefined =>
  tool?.port === 5432 && args.length === 0 ? tool.port : undefined;

/**
 * The words of the one command. Undefined: there is another one, unless it only gives the tool what to run, says how a
 * failure ends, or looks for a word in the output.
 */
function wordsOf(command: readonly string[]): readonly string[] | undefined {
  const [shell = '', option = '', script = '', ...more] = command;
  if (!/(^|\/)(ba|da|a)?sh$/.test(shell)) return command;
  const [piped = '', ending = 'false', ...others] = script.split('||').map((part) => part.trim());
  if (option !== '-c' || more.length > 0 || others.length > 0 || !isFailure.test(ending)) return undefined;
  const pipe = piped.split('|').map((part) => part.trim());
  const [asked = '', filter = 'grep', ...rest] = /^echo\s/.test(piped) ? pipe.slice(1) : pipe;
  if (rest.length > 0 || !/^grep\b/.test(filter)) return undefined;
  const isMore = /[;&|<>\n`]/.test(asked.replace(quoted, '').replace(/\$\([^()]*\)?/g, ''));
  return isMore ? undefined : asked.split(/\s+/).map(unquoted);
}

const isFailure = /^(exit\s+-?[1-9]\d*|false)$/;
/** The closing quote is optional: a search that fails without it would start again at each later quote. */
const quoted = /'[^']*'?|"(?:[^"\\]|\\.)*"?/g;

const unquoted = (word: string): string =>
  word.length > 1 && /^["']/.test(word) && word.at(-1) === word[0] ? word.slice(1, -1) : word;

/** `-p 1`, `-p1`, `--port 1` or `--port=1`; the last one counts. */
function optionOf(args: readonly string[], names: readonly string[]): string | undefined {
  let found: string | undefined;
  for (const [index, word] of args.entries())
    for (const name of names) {
      const isLong = name.startsWith('--');
      if (word === name) found = args[index + 1] ?? '';
      else if (word.startsWith(isLong ? `${name}=` : name) && !(word.startsWith('--') && !isLong))
        found = word.slice(isLong ? name.length + 1 : name.length);
    }
  return found;
}
