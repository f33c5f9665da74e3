/** The product's processes as a user starts them, seen by what they print. None outlives this one. */
import { type ChildProcess, spawn } from 'node:child_process';
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

const running = new Set<ChildProcess>();
const endAll = () => {
  for (const child of running) child.kill('SIGKILL');
};
process.once('exit', endAll);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

export type StartOptions = {
  readonly name: string;
  readonly args: readonly string[];
  /** What it says on its standard error when it is ready. */
  readonly ready: RegExp;
  readonly onLine?: (line: Line) => void;
};

export async function startProduct({
  name,
  args,
  ready,
  onLine,
}: StartOptions): Promise<Started & { readonly said: RegExpExecArray }> {
  const env = {
    PATH: process.env.PATH,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  const listeners = new Set<(line: Line) => void>(onLine ? [onLine] : []);
  const last: string[] = [];
  const keep = (text: string) => {
    last.push(text);
    if (last.length > linesMax) last.shift();
  };
  createInterface(child.stdout).on('line', (text) => {
    keep(text);
    const line = parsed(text);
    if (line) for (const listener of listeners) listener(line);
  });
  const said = await new Promise<RegExpExecArray>((resolve, reject) => {
    const giveUp = (why: string) => reject(new Error(`${name} ${why}: ${last.join('\n')}`));
    const timer = setTimeout(() => giveUp('does not start'), startMsMax);
    void ended.then((code) => giveUp(`ended with ${code}`));
    createInterface(child.stderr).on('line', (text) => {
      keep(text);
      const match = ready.exec(text);
      if (!match) return;
      clearTimeout(timer);
      resolve(match);
    });
  });
  return {
    name,
    said,
    onLine: (listener) => listeners.add(listener),
    lastLines: () => last,
    alive: () => child.exitCode === null && child.signalCode === null,
    signal: (signal) => child.kill(signal),
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
