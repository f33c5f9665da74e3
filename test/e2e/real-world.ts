/** The product as a user runs it: a process of its own, started with the documented options, in real time. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import { unansweredBook } from '../support/quiet-process.ts';
import { type Answer, allowedPrograms, type World, type WorldEvent } from './world.ts';

export type RealWorld = World & {
  readonly dataDir: string;
  readonly baseUrl: () => string;
  readonly pid: () => number;
  /** Ends the process at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts the process again on the same data; returns how long it took until it listened. */
  start(): Promise<number>;
  /** Starts it and kills it so long after, whether it listens by then or not. */
  startAndKill(afterMs: number): Promise<void>;
};

/** How long a start may take until the API listens. */
const startMsMax = 20_000;
const slackMs = 8_000;

export async function startRealWorld(): Promise<RealWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-e2e-'));
  const dataDir = join(folder, 'data');
  const allowExec = join(folder, 'allow-exec');
  writeFileSync(allowExec, allowedPrograms.join('\n'));
  const listeners = new Set<(event: WorldEvent) => void>();
  let product = await launch({ dataDir, allowExec });
  let watching = watch(product.url, listeners);
  return {
    clock: systemClock,
    folder,
    dataDir,
    slackMs,
    unanswered: unansweredBook(),
    baseUrl: () => product.url,
    pid: () => product.child.pid ?? 0,
    api: (method, path, body) => ask(product.url, { method, path, body }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    play: (promise) => promise,
    async kill() {
      watching.abort();
      await ended(product.child, 'SIGKILL');
    },
    async start() {
      const startedMs = performance.now();
      product = await launch({ dataDir, allowExec });
      watching = watch(product.url, listeners);
      return performance.now() - startedMs;
    },
    async startAndKill(afterMs) {
      const child = spawnProduct({ dataDir, allowExec });
      await sleep(systemClock, afterMs);
      await ended(child, 'SIGKILL');
    },
    async stop() {
      watching.abort();
      await ended(product.child, 'SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Product = { readonly child: ChildProcess; readonly url: string };

const main = new URL('../../functions/local/main.ts', import.meta.url).pathname;

type Options = { readonly dataDir: string; readonly allowExec: string };

function spawnProduct({ dataDir, allowExec }: Options) {
  const flags = ['--port', '0', '--data-dir', dataDir, '--allow-exec', allowExec];
  return spawn(process.execPath, [main, ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
}

async function launch(options: Options): Promise<Product> {
  const child = spawnProduct(options);
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not listening after ${startMsMax} ms: ${said}`)), startMsMax);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const match = /listens on (\S+?),/.exec(said);
      if (match?.[1] === undefined) return;
      clearTimeout(timer);
      resolve(match[1]);
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${said}`)));
  });
  return { child, url };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await exit;
}

async function ask(
  base: string,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: unknown },
): Promise<Answer> {
  const response = await fetch(base + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

function watch(base: string, listeners: ReadonlySet<(event: WorldEvent) => void>): AbortController {
  const abort = new AbortController();
  void readEvents(base, abort.signal, (event) => {
    for (const listener of listeners) listener(event);
  }).catch((error: unknown) => {
    if (!abort.signal.aborted) process.stderr.write(`watch ended: ${String(error)}\n`);
  });
  return abort;
}

/** Server-sent events, as far as this API sends them: one `data` line an event. */
async function readEvents(base: string, signal: AbortSignal, tell: (event: WorldEvent) => void): Promise<void> {
  const response = await fetch(`${base}/v1/watch?timeoutSeconds=3600`, { signal });
  const decoder = new TextDecoder();
  let waiting = '';
  for await (const chunk of response.body ?? []) {
    const lines = (waiting + decoder.decode(chunk, { stream: true })).split('\n');
    waiting = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ')) tell(JSON.parse(line.slice('data: '.length)));
  }
}
