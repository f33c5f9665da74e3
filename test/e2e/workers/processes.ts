/** The product's processes as a user starts them, observed by what they print. They end with this process. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export type Line = { readonly timeMs: number; readonly msg?: string; readonly [name: string]: unknown };

export type Started = {
  readonly name: string;
  /** What it logs, one line after the other. */
  onLine(listener: (line: Line) => void): void;
  /** Its last lines, as they are. */
  lastLines(): readonly string[];
  /** Has not ended. */
  alive(): boolean;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<number | null>;
};

const main = new URL('../../../functions/local/main.ts', import.meta.url).pathname;
const startMsMax = 60_000;
const linesMax = 60;

/** The product ends with the process that holds its shell's standard input; the shell prints the product's pid. */
const guard =
  'exec 3<&0; "$@" </dev/null & child=$!; echo "pid $child" >&2; (cat <&3 >/dev/null; kill -9 $child 2>/dev/null) & wait $child';

export type StartOptions = {
  readonly name: string;
  readonly args: readonly string[];
  /** What it says when it is ready. */
  readonly ready: RegExp;
  /** Defaults to `npm start`. */
  readonly program?: string;
  readonly env?: { readonly [name: string]: string };
  readonly onLine?: (line: Line) => void;
};

export async function startProduct(options: StartOptions): Promise<Started & { readonly said: RegExpExecArray }> {
  const { name, args, ready, onLine, program = main } = options;
  const env = {
    PATH: process.env.PATH,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_EC2_METADATA_DISABLED: 'true',
    ...options.env,
  };
  const command = ['-c', guard, 'sh', process.execPath, program, ...args];
  const child = spawn('/bin/sh', command, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let pid = 0;
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      child.stdin.end();
      resolve(code);
    });
  });
  const listeners = new Set<(line: Line) => void>(onLine ? [onLine] : []);
  const last: string[] = [];
  const keep = (text: string) => {
    last.push(text);
    if (last.length > linesMax) last.shift();
  };
  const { promise: matched, resolve: match } = Promise.withResolvers<RegExpExecArray>();
  const see = (text: string) => {
    keep(text);
    const found = ready.exec(text);
    if (found) match(found);
  };
  createInterface(child.stdout).on('line', (text) => {
    see(text);
    const line = parsed(text);
    if (line) for (const listener of listeners) listener(line);
  });
  const said = await new Promise<RegExpExecArray>((resolve, reject) => {
    const giveUp = (why: string) => reject(new Error(`${name} ${why}: ${last.join('\n')}`));
    const timer = setTimeout(() => giveUp('does not start'), startMsMax);
    void ended.then((code) => giveUp(`ended with ${code}`));
    createInterface(child.stderr).on('line', (text) => {
      pid ||= Number(/^pid (\d+)$/.exec(text)?.[1] ?? 0);
      see(text);
    });
    void matched.then((found) => {
      clearTimeout(timer);
      resolve(found);
    });
  });
  return {
    name,
    said,
    onLine: (listener) => listeners.add(listener),
    lastLines: () => last,
    alive: () => child.exitCode === null,
    signal(signal) {
      if (child.exitCode === null) process.kill(pid, signal);
    },
    ended,
  };
}

function parsed(text: string): Line | undefined {
  try {
    return { ...JSON.parse(text), timeMs: Date.now() };
  } catch {
    return undefined;
  }
}
