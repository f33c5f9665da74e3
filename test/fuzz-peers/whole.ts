/** The whole product among hostile peers and fifty healthy targets, observed while it probes them. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import type { Answered } from '../e2e/faults/answering.ts';
import { apiRequest, targetPath } from '../support/api-client.ts';
import { answerOf, forkBeside } from '../support/children.ts';
import { type Figure, judged, quantileOf, unjudged } from '../support/figures.ts';
import { inLanes } from '../support/lanes.ts';
import type { Memory } from '../support/process-memory.ts';
import { probeTotals } from '../support/scraped.ts';
import type { Exchange, Kind, Transport } from './kind.ts';
import type { PeerOrder } from './peers.ts';
import { type Product, startProduct } from './product.ts';

export type Whole = {
  /** Registers a target for each exchange and fifty healthy ones, and waits until their shards stay as they are. */
  readonly register: (exchanges: readonly (readonly [Kind, Exchange])[], periodSeconds: number) => Promise<void>;
  /** Samples memory, `/healthz` and the healthy targets for this long, or until the process has ended. */
  readonly watch: (ms: number) => Promise<void>;
  /** Judges the healthy targets of this run, then ends it. Lateness after a restart is reported and not judged. */
  readonly terminate: () => Promise<{ readonly tookMs: number; readonly code: string }>;
  readonly restart: () => Promise<void>;
  readonly seen: () => Seen;
  readonly end: () => Promise<void>;
};

export type Seen = {
  readonly memory: Memory;
  /** Between two requests to a healthy target, beyond its period; ascending. */
  readonly lateMs: readonly number[];
  /** The same while shards of many new targets were split, hand-overs included, and in restarted processes. */
  readonly lateAtFirstMs: readonly number[];
  /** Healthy targets that failed. One that is not known, since the machine had no time, has not. */
  readonly failing: readonly string[];
  /** Why the process ended without a SIGTERM. */
  readonly faults: readonly string[];
  readonly healthMs: readonly number[];
  /** How many probes ended in which way. */
  readonly results: Readonly<Record<string, number>>;
};

const healthyCount = 50;
const healthyPeriodMs = 1_000;
/** Hundreds of new targets divide their shards several times, with a hand-over each. */
const settleMs = 10_000;
/** From the start until every target is loaded; until then `/healthz` may say that nothing is probed. */
const loadMsMax = 3_000;
const sampleMs = 100;
const healthEveryMs = 500;
const healthMsMax = 10_000;
const lanes = 8;
const hostile = 'hostile';
const healthy = 'healthy';

export async function startWhole(): Promise<Whole> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-peers-'));
  const dataDir = join(folder, 'data');
  // So that the compile cache is warm: without it the process also holds the compiler.
  await (await startProduct(join(folder, 'warm'))).terminate();
  const peers = forkBeside('./peers.ts', import.meta.url);
  await answerOf(peers);
  const servers = forkBeside('../e2e/faults/answering.ts', import.meta.url);
  const { port: healthyPort } = (await answerOf(servers)) as Answered;
  let product = await startProduct(dataDir);
  let startedAtMs = performance.now();
  let isRestarted = false;

  let memory: Memory = { rss: 0, highest: 0, anonymous: 0 };
  const [lateMs, lateAtFirstMs, healthMs]: [number[], number[], number[]] = [[], [], []];
  const [failing, faults]: [string[], string[]] = [[], []];
  const results: Record<string, number> = {};

  const sample = () => {
    const now = product.memory();
    memory = now.rss > memory.rss ? { ...now, highest: Math.max(now.highest, memory.highest) } : memory;
  };
  const askHealth = async () => {
    const startMs = performance.now();
    const isAnswered = await ask(`${product.url}/healthz`).then(
      () => true,
      () => false,
    );
    if (!isAnswered && startMs - startedAtMs < loadMsMax) return;
    healthMs.push(isAnswered ? performance.now() - startMs : Number.POSITIVE_INFINITY);
  };
  const countLate = async (late: number[]) => {
    const { asked } = (await answerOf(servers, {})) as Answered;
    for (const times of Object.values(asked)) late.push(...latenessesOf(times));
  };
  const watch = async (ms: number) => {
    const endMs = performance.now() + ms;
    let [nextHealthMs, health] = [0, Promise.resolve()];
    while (performance.now() < endMs && product.fault() === undefined) {
      sample();
      if (performance.now() >= nextHealthMs) {
        nextHealthMs = performance.now() + healthEveryMs;
        health = askHealth();
      }
      await sleep(systemClock, sampleMs);
    }
    await health;
  };

  return {
    register: async (exchanges, periodSeconds) => {
      const order: PeerOrder = { kind: 'open', exchanges: exchanges.map(([, exchange]) => exchange) };
      const ports = (await answerOf(peers, order)) as readonly number[];
      const targets = [
        ...Array.from({ length: healthyCount }, (_, at) => healthyTarget(at, healthyPort)),
        ...exchanges.map(([kind], at) => hostileTarget(kind, { at, port: ports[at] ?? 0, periodSeconds })),
      ];
      await inLanes(targets, lanes, (target) => put(product.url, target));
      await watch(settleMs);
      await countLate(lateAtFirstMs);
    },
    watch,
    terminate: async () => {
      await countLate(isRestarted ? lateAtFirstMs : lateMs);
      const fault = product.fault();
      if (fault !== undefined) faults.push(fault);
      else await judge(product, { results, failing });
      return product.terminate();
    },
    restart: async () => {
      product = await startProduct(dataDir);
      startedAtMs = performance.now();
      isRestarted = true;
      // Between the requests to two processes there is no period.
      await countLate([]);
    },
    seen: () => ({
      memory,
      lateMs: ascending(lateMs),
      lateAtFirstMs: ascending(lateAtFirstMs),
      failing,
      faults,
      healthMs,
      results,
    }),
    end: async () => {
      for (const child of [peers, servers] satisfies ChildProcess[]) child.disconnect();
      await product.terminate();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const ascending = (values: readonly number[]): readonly number[] => [...values].sort((a, b) => a - b);

function latenessesOf(times: readonly number[]): readonly number[] {
  return times.slice(1).map((timeMs, at) => Math.max(0, timeMs - (times[at] ?? 0) - healthyPeriodMs));
}

async function ask(request: string | Request): Promise<string> {
  const response = await fetch(request, { signal: AbortSignal.timeout(healthMsMax) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text}`);
  return text;
}

type Registered = { readonly path: string; readonly probe: object };

const put = (base: string, { path, probe }: Registered): Promise<string> =>
  ask(apiRequest(base + path, 'PUT', { spec: { host: '127.0.0.1', readinessProbe: probe } }));

const healthyTarget = (at: number, port: number): Registered => ({
  path: targetPath(`healthy-${at}`, healthy),
  probe: { httpGet: { path: `/${at}`, port }, periodSeconds: healthyPeriodMs / 1000, failureThreshold: 1 },
});

type HostileOptions = { readonly at: number; readonly port: number; readonly periodSeconds: number };

const hostileTarget = ({ transport }: Kind, { at, port, periodSeconds }: HostileOptions): Registered => ({
  path: targetPath(`hostile-${at}`, hostile),
  probe: { ...handlerOf(transport, port), periodSeconds, timeoutSeconds: periodSeconds },
});

function handlerOf(transport: Transport, port: number): object {
  if (transport === 'grpc') return { grpc: { port } };
  return { httpGet: { path: '/', port, scheme: transport === 'http' ? 'HTTP' : 'HTTPS' } };
}

type Judging = { readonly results: Record<string, number>; readonly failing: string[] };

/** Its own counters say how each probe ended. */
async function judge({ url }: Product, { results, failing }: Judging): Promise<void> {
  for (const { labels, value } of probeTotals(await ask(`${url}/metrics`))) {
    const { result = '', namespace, pod = '' } = labels;
    const key = namespace === hostile ? result : `${healthy} ${result}`;
    results[key] = (results[key] ?? 0) + value;
    if (key === `${healthy} failed` && value > 0) failing.push(pod);
  }
}

const mb = 1_000_000;
const mib = 1024 * 1024;
const rssMbMax = 200;
const latenessMsMax = 250;

/** What both stages judge. */
export function wholeFigures(name: string, seen: Seen): readonly Figure[] {
  const { memory, lateMs, lateAtFirstMs, failing, faults, healthMs, results } = seen;
  const [p99Ms, atFirstMs] = [quantileOf(lateMs, 0.99), quantileOf(lateAtFirstMs, 0.99)];
  const unanswered = healthMs.filter((ms) => !Number.isFinite(ms)).length;
  const longestMs = Math.max(0, ...healthMs.filter(Number.isFinite));
  const resultText = Object.entries(results).map(([result, count]) => `${count} ${result}`);
  return [
    judged(`${name}: memory`, `${(memory.rss / mb).toFixed(0)} MB = ${(memory.rss / mib).toFixed(0)} MiB RSS`, {
      limit: `< ${rssMbMax} MB`,
      holds: memory.rss > 0 && memory.rss < rssMbMax * mb,
    }),
    unjudged(`${name}: of it anonymous`, `${(memory.anonymous / mb).toFixed(0)} MB`),
    unjudged(`${name}: highest of the kernel (VmHWM)`, `${(memory.highest / mb).toFixed(0)} MB`),
    judged(`${name}: neighbours late, p99 of ${lateMs.length}`, `${p99Ms.toFixed(0)} ms`, {
      limit: `< ${latenessMsMax} ms`,
      holds: p99Ms < latenessMsMax,
    }),
    unjudged(
      `${name}: while shards were divided, and after restarts, p99 of ${lateAtFirstMs.length}`,
      `${atFirstMs.toFixed(0)} ms`,
    ),
    judged(`${name}: neighbours that failed`, failing.slice(0, 3).join('; ') || '0', {
      limit: '0',
      holds: failing.length === 0,
    }),
    judged(`${name}: /healthz`, `${unanswered} of ${healthMs.length} not 200, longest ${longestMs.toFixed(0)} ms`, {
      limit: '0',
      holds: unanswered === 0 && healthMs.length > 0,
    }),
    judged(`${name}: the process lives`, faults[0] ?? 'yes', { limit: 'yes', holds: faults.length === 0 }),
    unjudged(`${name}: probes`, resultText.join(', ')),
  ];
}
