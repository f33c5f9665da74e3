/**
 * The whole of `npm start` among hostile clients, one kind after the other, while it probes its targets each second.
 * Lateness is what the targets see, and compared with that of a time without attacks.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import type { Random } from '../../shared/lib/random.ts';
import { type Product, startProduct } from '../fuzz-peers/product.ts';
import { answerOf, forkBeside } from '../support/children.ts';
import { atMost, type Figure, judged, quantileOf, unjudged } from '../support/figures.ts';
import { mib } from '../support/process-memory.ts';
import { longestSince } from '../support/standstill.ts';
import type { AttackKind } from './attack-kinds.ts';
import type { AttackOrder } from './attackers.ts';
import type { TargetReport } from './targets.ts';

export type CrowdOptions = {
  readonly kinds: readonly AttackKind[];
  readonly targets: number;
  /** Of each attack, and of the time without one. */
  readonly attackMs: number;
  /** So many times as late as the limit is allowed. */
  readonly slack: number;
  readonly random: Random;
  readonly say: (line: string) => void;
};

const registrationsMax = 5;
const token = 'a-token-of-32-characters-0123456';
const namespace = 'crowd';
const periodMs = 1_000;
/** Hundreds of new targets divide their shards several times. */
const settleMs = 15_000;
/** After an attack its connections close, which is part of what it costs. */
const restMs = 1_000;
const sampleMs = 250;

const limits = { lateMs: 50, healthMs: 1_000, rssMib: 300 };
/** On a machine that is late without attacks, so many times as late. */
const lateFactor = 4;

/** Of the answers to `/healthz`. */
type Health = {
  /** Of those with 200. */
  readonly ms: readonly number[];
  /** Why the others were none. */
  readonly troubles: readonly string[];
};

type Seen = {
  readonly lateMs: readonly number[];
  /** At the port of the API, which hostile clients keep busy. */
  readonly api: Health;
  /** At its own port. */
  readonly own: Health;
  readonly rssMib: number;
  /** The longest that the product had no processor, in the time of one sample. */
  readonly waitedMs: number;
  /** The longest that the targets, which do next to nothing, did not run: then nothing on the machine did in time. */
  readonly stoodStillMs: number;
};

export async function crowdStage(options: CrowdOptions): Promise<readonly Figure[]> {
  const { kinds, targets, attackMs, slack, random, say } = options;
  const folder = mkdtempSync(join(tmpdir(), 'probelet-clients-'));
  writeFileSync(join(folder, 'token'), token, { mode: 0o600 });
  const servers = forkBeside('./targets.ts', import.meta.url);
  const attackers = forkBeside('./attackers.ts', import.meta.url);
  const [{ port: healthyPort }] = [(await answerOf(servers)) as TargetReport, await answerOf(attackers)];
  // So that the compile cache is warm: without it the process also holds the compiler.
  await (await startProduct(join(folder, 'warm'))).terminate();
  const product = await startProduct(join(folder, 'data'), `--token-file '${join(folder, 'token')}'`);
  const port = Number(new URL(product.url).port);
  const seenDuring = async (ms: number): Promise<Seen> => {
    await answerOf(servers, {});
    const fromMs = Date.now();
    const seen = await watched(product, ms);
    const { asked, standstills } = (await answerOf(servers, {})) as TargetReport;
    return {
      ...seen,
      stoodStillMs: longestSince(standstills, fromMs),
      lateMs: Object.values(asked).flatMap(latenessesOf),
    };
  };
  const figures: Figure[] = [];
  try {
    await register(product, targets, healthyPort);
    await sleep(systemClock, settleMs);
    const quiet = await seenDuring(attackMs);
    figures.push(...quietFigures(quiet, targets, attackMs));
    for (const { name } of kinds) {
      const seed = Math.floor(random.next() * 2 ** 31);
      await answerOf(attackers, { kind: 'begin', name, port, token, seed } satisfies AttackOrder);
      const seen = await seenDuring(attackMs);
      await answerOf(attackers, { kind: 'end' } satisfies AttackOrder);
      const own = attackFigures(name, seen, { quiet, targets, attackMs, slack });
      figures.push(...own);
      for (const { name: what, measured, holds } of own)
        say(`${holds === false ? 'FAIL' : 'ok  '} ${what}: ${measured}`);
      if (product.fault() !== undefined) break;
      await sleep(systemClock, restMs);
    }
    const fault = product.fault();
    figures.push(judged('crowd: the process lives', fault ?? 'yes', { limit: 'yes', holds: fault === undefined }));
  } finally {
    for (const child of [servers, attackers]) child.disconnect();
    await product.terminate();
    rmSync(folder, { recursive: true, force: true });
  }
  return figures;
}

/** By lines, as `probelet apply` registers them; a slow machine does not take all at the first try. */
async function register({ url }: Product, targets: number, port: number): Promise<void> {
  const lines = Array.from({ length: targets }, (_, at) => {
    const probe = { httpGet: { path: `/${at}`, port }, periodSeconds: periodMs / 1_000, failureThreshold: 3 };
    const spec = { host: '127.0.0.1', readinessProbe: probe };
    return JSON.stringify({ metadata: { namespace, name: `t${at}` }, spec });
  });
  let [stored, said] = [0, ''];
  for (let left = registrationsMax; left > 0 && stored < targets; left -= 1) {
    const response = await fetch(`${url}/v1/targets:apply`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    });
    said = await response.text();
    stored = said.split('\n').filter((line) => /"status":20[01]/.test(line)).length;
  }
  if (stored < targets) throw new Error(`${stored} of ${targets} targets were registered: ${said.slice(-500)}`);
}

async function watched(product: Product, ms: number): Promise<Omit<Seen, 'lateMs' | 'stoodStillMs'>> {
  const endMs = performance.now() + ms;
  const [api, own, { rss, waitedMs }] = await Promise.all([
    healthUntil(endMs, product, product.url),
    healthUntil(endMs, product, product.healthUrl),
    loadUntil(endMs, product),
  ]);
  return { api, own, rssMib: rss / mib, waitedMs };
}

async function loadUntil(endMs: number, product: Product) {
  let [rss, waitedMs] = [0, 0];
  let waitedBeforeMs: number | undefined;
  while (performance.now() < endMs && product.fault() === undefined) {
    rss = Math.max(rss, product.memory().rss);
    const nowMs = product.waitedMs();
    waitedMs = Math.max(waitedMs, nowMs - (waitedBeforeMs ?? nowMs));
    waitedBeforeMs = nowMs;
    await sleep(systemClock, sampleMs);
  }
  return { rss, waitedMs };
}

async function healthUntil(endMs: number, product: Product, url: string): Promise<Health> {
  const [ms, troubles]: [number[], string[]] = [[], []];
  while (performance.now() < endMs && product.fault() === undefined) {
    const startMs = performance.now();
    const trouble = await healthTrouble(url);
    if (trouble) troubles.push(trouble);
    else ms.push(performance.now() - startMs);
    await sleep(systemClock, sampleMs);
  }
  return { ms, troubles };
}

const healthMsMax = 10_000;

/** Why `/healthz` is not answered with 200. */
const healthTrouble = (url: string): Promise<string | undefined> =>
  fetch(`${url}/healthz`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(healthMsMax) }).then(
    async (response) => {
      const text = await response.text();
      return response.ok ? undefined : `${response.status} ${text}`;
    },
    (error: Error) => `${error.message} ${error.cause ?? ''}`,
  );

const latenessesOf = (times: readonly number[]): readonly number[] =>
  times.slice(1).map((timeMs, at) => Math.max(0, timeMs - (times[at] ?? 0) - periodMs));

const p99Of = ({ lateMs }: Seen): number =>
  quantileOf(
    [...lateMs].sort((a, b) => a - b),
    0.99,
  );
const longest = (values: readonly number[]): number => Math.max(0, ...values);

function quietFigures(quiet: Seen, targets: number, ms: number): readonly Figure[] {
  return [
    unjudged('without attacks: late, p99', `${p99Of(quiet).toFixed(0)} ms of ${quiet.lateMs.length}`),
    unjudged('without attacks: /healthz, longest', `${longestOf(quiet).toFixed(0)} ms`),
    unjudged('without attacks: memory', `${quiet.rssMib.toFixed(0)} MiB`),
    judged('without attacks: probes', `${quiet.lateMs.length}`, {
      limit: `≥ ${probesMin(targets, ms)}`,
      holds: quiet.lateMs.length >= probesMin(targets, ms),
    }),
  ];
}

/** The first probe of a target in the time gives no lateness; one more may fall behind its end. */
const probesMin = (targets: number, ms: number): number => Math.floor(targets * Math.max(0, ms / periodMs - 2) * 0.98);

type Compared = { readonly quiet: Seen; readonly targets: number; readonly attackMs: number; readonly slack: number };

/** At either port. */
const longestOf = ({ api, own }: Pick<Seen, 'api' | 'own'>): number => longest([...api.ms, ...own.ms]);

function attackFigures(name: string, seen: Seen, compared: Compared): readonly Figure[] {
  const { quiet, targets, attackMs, slack } = compared;
  const lateMsMax = Math.max(slack * limits.lateMs, lateFactor * p99Of(quiet));
  const probes = seen.lateMs.length;
  return [
    atMost(`${name}: late, p99`, p99Of(seen), { limit: lateMsMax, unit: 'ms' }),
    judged(`${name}: probes`, `${probes}`, {
      limit: `≥ ${probesMin(targets, attackMs)}`,
      holds: probes >= probesMin(targets, attackMs),
    }),
    ...healthFigures(`${name}: /healthz`, seen.api, compared),
    ...healthFigures(`${name}: /healthz at its own port`, seen.own, compared),
    unjudged(`${name}: without a processor for`, `${seen.waitedMs.toFixed(0)} ms, its targets ${seen.stoodStillMs} ms`),
    atMost(`${name}: memory`, seen.rssMib, { limit: limits.rssMib, unit: 'MiB' }),
  ];
}

function healthFigures(name: string, { ms, troubles }: Health, { quiet, slack }: Compared): readonly Figure[] {
  const limit = Math.max(slack * limits.healthMs, lateFactor * longestOf(quiet));
  return [
    judged(`${name} not answered`, [troubles.length, ...troubles.slice(0, 1)].join(': '), {
      limit: '0',
      holds: troubles.length === 0,
    }),
    atMost(`${name}, longest`, longest(ms), { limit, unit: 'ms' }),
  ];
}
