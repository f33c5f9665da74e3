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
  // Of the image of MariaDB.
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
 * The words of the one command. Undefined: there is another one, unless it only says how a failure ends or looks for a
 * word in the output.
 */
function wordsOf(command: readonly string[]): readonly string[] | undefined {
  const [shell = '', option = '', script = '', ...more] = command;
  if (!/(^|\/)(ba|da|a)?sh$/.test(shell)) return command;
  if (option !== '-c' || more.length > 0) return undefined;
  const asked = script.trim().replace(input, '').replace(ending, '');
  return /[;&|<>\n`]/.test(asked.replace(quoted, '').replace(/\$\([^()]*\)/g, ''))
    ? undefined
    : asked.split(/\s+/).map(unquoted);
}

const quoted = /'[^']*'|"(?:[^"\\]|\\.)*"/g;
/** What a shell of a database gets to run. */
const input = /^echo\s+('[^']*'|"[^"]*"|[\w.()]+)\s*\|\s*/;
const ending = /\s*(\|\s*grep\s+(-\w+\s+)?["']?[\w ]+["']?\s*)?(\|\|\s*(exit\s+-?[1-9]\d*|false)\s*)?$/;

const unquoted = (word: string): string => word.replace(/^(["'])(.*)\1$/, '$2');

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
