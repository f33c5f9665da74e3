/** `npm start` as a process of its own. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

export const main = new URL('../../functions/local/main.ts', import.meta.url).pathname;

/** What a process says once its API listens. */
export const listensOn = /listens on (http:\/\/[^:]+:(\d+)),/;

export type Product = {
  readonly child: ChildProcess;
  /** Of its API. */
  readonly url: string;
  readonly port: number;
  /** Sends the signal unless the process has ended; resolves once it has. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
};

export type ProductOptions = {
  /** What runs it: node, or a program that begins node. */
  readonly command?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Default: that of the clone. */
  readonly program?: string;
  /** What it writes to its standard error when it is ready. */
  readonly ready?: RegExp;
  readonly startMsMax?: number;
};

export function spawnProduct(
  args: readonly string[],
  { command = [process.execPath], env = process.env, program = main }: ProductOptions = {},
  stdio: StdioOptions = ['ignore', 'ignore', 'pipe'],
): ChildProcess {
  const [runner = '', ...rest] = command;
  return spawn(runner, [...rest, program, ...args], { env, stdio });
}

/** Resolves once it is ready. @throws if it ends or takes longer than `startMsMax` */
export async function startProduct(args: readonly string[], options: ProductOptions = {}): Promise<Product> {
  const { ready = listensOn, startMsMax = 60_000 } = options;
  const child = spawnProduct(args, options);
  let said = '';
  const found = await new Promise<RegExpExecArray>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready after ${startMsMax} ms: ${said}`)), startMsMax);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${code}: ${said}`));
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const match = ready.exec(said);
      if (!match) return;
      clearTimeout(timer);
      resolve(match);
    });
  });
  return { child, url: found[1] ?? '', port: Number(found[2]), stop: (signal) => endProduct(child, signal) };
}

export async function endProduct(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/** Whether `/healthz` of this address says that all is well. */
export async function isHealthy(url: string): Promise<boolean> {
  const response = await fetch(`${url}/healthz`).catch(() => undefined);
  await response?.arrayBuffer();
  return response?.status === 200;
}
