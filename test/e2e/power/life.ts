/** One life of `npm start` under a tracer: registrations, labels, targets that fail and recover, an alert of each. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Random } from '../../../shared/lib/random.ts';
import { startProduct } from '../../local/product.ts';
import { askApi, targetPath } from '../../support/api-client.ts';
import { pause } from '../../support/wait.ts';
import { closeServer, listenOnLoopback } from '../alerts/loopback.ts';
import { type DecidedTargets, decidedTargets } from '../alerts/targets.ts';
import { callsIn, type DiskCall, tracer } from './traced-calls.ts';

/** What a client or a receiver knows, and from when on. */
export type Known = { readonly atMs: number } & (
  | { readonly kind: 'registered'; readonly name: string; readonly version: number }
  | { readonly kind: 'notified' | 'closed'; readonly batch: string }
);

export type PastLife = {
  readonly calls: readonly DiskCall[];
  readonly known: readonly Known[];
  /** Its data folder, which it has made. */
  readonly dataDir: string;
};

export type LifeOptions = {
  /** For all files. */
  readonly folder: string;
  readonly seconds: number;
  readonly random: Random;
  /** What runs the product under the tracer, and with what. */
  readonly node: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
};

const names = Array.from({ length: 6 }, (_, index) => `t${index}`);
const editEveryMs = 100;
const turnMsMin = 4_000;
const turnMsMax = 12_000;
const startMsMax = 120_000;
/** The tracer ends after the process that it traces. */
const tracerEndsMs = 1_000;
const refusesShare = 0.2;

const nowMs = (): number => performance.timeOrigin + performance.now();

export async function liveOnce({ folder, seconds, random, node, env = process.env }: LifeOptions): Promise<PastLife> {
  mkdirSync(join(folder, 'kept'), { recursive: true, mode: 0o700 });
  const dataDir = join(folder, 'kept', 'data');
  const known: Known[] = [];
  const hook = await receiver(known, random);
  const targets = await decidedTargets();
  const config = join(folder, 'probelet.yaml');
  writeFileSync(config, configOf(hook.port), { mode: 0o600 });
  const traces = join(folder, 'trace');
  const args = ['--port', '0', '--data-dir', dataDir, '--config', config];
  const product = await startProduct(args, { command: [...tracer(traces), ...node], env, startMsMax });
  try {
    const untilMs = nowMs() + seconds * 1_000;
    await Promise.all([edit(product.url, targets, { known, untilMs }), turn(targets, { random, untilMs })]);
  } finally {
    await product.stop('SIGKILL');
    await Promise.all([hook.close(), targets.close()]);
  }
  await pause(tracerEndsMs);
  return { calls: callsIn(traces), known, dataDir };
}

const configOf = (port: number): string =>
  [
    'alerts: [{ name: down, groupBy: [own], notify: [hook] }]',
    `receivers: [{ name: hook, webhook: { url: "http://127.0.0.1:${port}/" } }]`,
    '',
  ].join('\n');

/** Takes notifications, and refuses some of them for now. */
async function receiver(known: Known[], random: Random) {
  const server = createServer(async (request, response) => {
    const { data } = JSON.parse(await text(request));
    const isRefused = random.next() < refusesShare;
    if (!isRefused) known.push({ atMs: nowMs(), kind: data.closed ? 'closed' : 'notified', batch: data.batch });
    response.writeHead(isRefused ? 500 : 200).end();
  });
  return { port: await listenOnLoopback(server), close: () => closeServer(server) };
}

type Editing = { readonly known: Known[]; readonly untilMs: number };

/** Each target in turn gets another version as a label. */
async function edit(url: string, { specOf }: DecidedTargets, { known, untilMs }: Editing): Promise<void> {
  for (let version = 1; nowMs() < untilMs; version += 1)
    for (const name of names) {
      const labels = { own: name, version: `${version}` };
      const body = { metadata: { labels }, spec: specOf(name) };
      const { status } = await askApi(url, 'PUT', targetPath(name), body);
      if (status < 300) known.push({ atMs: nowMs(), kind: 'registered', name, version });
      await pause(editEveryMs);
    }
}

type Turning = { readonly random: Random; readonly untilMs: number };

async function turn({ down }: DecidedTargets, { random, untilMs }: Turning): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      for (;;) {
        const forMs = turnMsMin + random.next() * (turnMsMax - turnMsMin);
        if (nowMs() + forMs > untilMs) return pause(untilMs - nowMs());
        await pause(forMs);
        if (!down.delete(name)) down.add(name);
      }
    }),
  );
}
