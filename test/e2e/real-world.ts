/** The product as a user runs it: a process of its own, started with the documented options, in real time. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import { endProduct, type Product, spawnProduct, startProduct } from '../local/product.ts';
import { askApi } from '../support/api-client.ts';
import { unansweredBook } from '../support/quiet-process.ts';
import { allowedPrograms, type World, type WorldEvent } from './world.ts';

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

type RealWorldOptions = {
  /** What exec probes may run. */
  readonly programs?: readonly string[];
  /** More options of `npm start`. */
  readonly options?: readonly string[];
};

export async function startRealWorld({
  programs = allowedPrograms,
  options: more = [],
}: RealWorldOptions = {}): Promise<RealWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-e2e-'));
  const dataDir = join(folder, 'data');
  const allowExec = join(folder, 'allow-exec');
  writeFileSync(allowExec, programs.join('\n'));
  const listeners = new Set<(event: WorldEvent) => void>();
  const options = ['--port', '0', '--data-dir', dataDir, '--allow-exec', allowExec, ...more];
  const launch = (): Promise<Product> => startProduct(options, { startMsMax });
  let product = await launch();
  let watching = watch(product.url, listeners);
  return {
    clock: systemClock,
    folder,
    dataDir,
    slackMs,
    unanswered: unansweredBook(),
    baseUrl: () => product.url,
    pid: () => product.child.pid ?? 0,
    api: (method, path, body) => askApi(product.url, method, path, body),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    play: (promise) => promise,
    async kill() {
      watching.abort();
      await product.stop('SIGKILL');
    },
    async start() {
      const startedMs = performance.now();
      product = await launch();
      watching = watch(product.url, listeners);
      return performance.now() - startedMs;
    },
    async startAndKill(afterMs) {
      const child = spawnProduct(options);
      await sleep(systemClock, afterMs);
      await endProduct(child, 'SIGKILL');
    },
    async stop() {
      watching.abort();
      await product.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
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
