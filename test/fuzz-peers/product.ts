/** `npm start` as package.json has it, with a heap of 200 MB, in its own process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { type Memory, memoryOf } from '../support/process-memory.ts';
import { waitedForProcessorMs } from '../support/processor-wait.ts';
import { until } from '../support/wait.ts';

export type Product = {
  readonly url: string;
  /** Of its port for `/healthz`. */
  readonly healthUrl: string;
  /** Bytes, as the kernel counts them. */
  readonly memory: () => Memory;
  /** For how long its main thread could run and had no processor, since its start. */
  readonly waitedMs: () => number;
  /** Whether it runs; else what it said last. */
  readonly fault: () => string | undefined;
  /** Sends SIGTERM; returns how long the end took, and the exit code or signal. After 20 s it is killed. */
  readonly terminate: () => Promise<{ readonly tookMs: number; readonly code: string }>;
};

const root = fileURLToPath(new URL('../..', import.meta.url));
const startMsMax = 60_000;
const endMsMax = 20_000;
const saidMax = 4_000;
const heapMb = 200;

/** As in package.json, with another option of Node. */
const startCommand = (dataDir: string): string =>
  `${packageJson.scripts.start.replace(/\bnode /, `node --max-old-space-size=${heapMb} `)} --port 0 --healthz-port 0 --data-dir '${dataDir}'`;

/** `more`: further options, for the shell. */
export async function startProduct(dataDir: string, more = ''): Promise<Product> {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
  const options = { cwd: root, env: { ...process.env, PATH } };
  const child = spawn('sh', ['-c', `${startCommand(dataDir)} ${more}`], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killed = () => void child.kill('SIGKILL');
  process.once('exit', killed);
  child.once('exit', () => process.off('exit', killed));
  let said = '';
  const hear = (text: string) => {
    said = (said + text).slice(-saidMax);
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);
  const [, url = '', healthUrl = ''] = await until(
    () => `npm start listens: ${said}`,
    { withinMs: startMsMax, pollMs: 20 },
    () => {
      if (isOver(child)) throw new Error(`npm start ended with ${endOf(child)}: ${said}`);
      return /listens on (\S+?),.*answers \/healthz on (\S+)\n/s.exec(said) ?? undefined;
    },
  );
  return {
    ...{ url, healthUrl },
    memory: () => memoryOf(child),
    waitedMs: () => waitedForProcessorMs(child.pid ?? 0),
    fault: () => (isOver(child) ? `ended with ${endOf(child)}: ${said}` : undefined),
    terminate: async () => {
      const startMs = performance.now();
      if (!isOver(child)) {
        const timer = setTimeout(killed, endMsMax);
        const exit = once(child, 'exit');
        child.kill('SIGTERM');
        await exit;
        clearTimeout(timer);
      }
      return { tookMs: performance.now() - startMs, code: endOf(child) };
    },
  };
}

const isOver = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

const endOf = ({ exitCode, signalCode }: ChildProcess): string => `${exitCode ?? signalCode}`;
