/**
 * One HTTP probe a second of each of many targets: all of `npm start`, kubelet's probers each with its ticker, and
 * prometheus-blackbox-exporter behind a scraper. The target counts the probes and how late they come.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { systemClock as clock, sleep } from '../../shared/lib/clock.ts';
import { endProduct, isHealthy } from '../local/product.ts';
import { register } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { inLanes } from '../support/lanes.ts';
import { memoryOf, mib } from '../support/process-memory.ts';
import { until } from '../support/wait.ts';
import { hostOf } from './hosts.ts';
import { cpuMsOf, startOfProduct, type World } from './world.ts';

export type Paced = {
  readonly cpuMicros: number;
  readonly latenessP99Ms: number;
  readonly rssMb: number;
  /** Probes a second. */
  readonly achieved: number;
};

const periodMs = 1_000;
const settleMs = 10_000;
const measuredMs = 10_000;

async function measure(world: World, prober: ChildProcess, afterMs = settleMs): Promise<Paced> {
  await sleep(clock, afterMs);
  const before = cpuMsOf(prober);
  world.reset();
  await sleep(clock, measuredMs);
  const { arrivals, latenessP99Ms } = await world.arrived(periodMs);
  const cpuMicros = ((cpuMsOf(prober) - before) * 1_000) / arrivals;
  return { cpuMicros, latenessP99Ms, rssMb: memoryOf(prober).rss / mib, achieved: (arrivals * 1_000) / measuredMs };
}

/** kubelet's probers. */
export async function pacedKubelet(world: World, targets: number): Promise<Paced> {
  const prober = world.start([world.peers, 'paced', `${world.ports.http}`, `${targets}`]);
  const paced = await measure(world, prober);
  await endProduct(prober);
  return paced;
}

/** `afterMs`: how long it has for what follows from the registrations, beside its probes. */
export async function pacedProduct(world: World, targets: number, afterMs?: number): Promise<Paced> {
  const { command, env } = startOfProduct();
  const port = await freePort();
  const data = mkdtempSync(join(world.folder, 'data-'));
  const probesPerSecondMax = Math.ceil((targets * 1_000) / periodMs);
  const options = ['--data-dir', data, '--port', `${port}`, '--probes-per-second-max', `${probesPerSecondMax}`];
  const prober = world.start([...command, ...options], env);
  const url = `http://127.0.0.1:${port}`;
  await until('the process is healthy', { withinMs: 60_000, pollMs: 50 }, () => isHealthy(url));
  await registerAll(url, targets, world.ports.http ?? 0);
  world.reset();
  await until('all are probed', { withinMs: 120_000, pollMs: 500 }, async () => {
    return (await world.arrived(periodMs)).paths >= targets;
  });
  const paced = await measure(world, prober, afterMs);
  await endProduct(prober);
  return paced;
}

const registrationsAtOnce = 16;

async function registerAll(url: string, targets: number, port: number): Promise<void> {
  await inLanes(
    Array.from({ length: targets }, (_, at) => at),
    registrationsAtOnce,
    (at) => {
      const httpGet = { port, path: `/t/${at}` };
      const readinessProbe = { httpGet, periodSeconds: periodMs / 1_000, timeoutSeconds: 5 };
      return register(url, `paced-${at}`, { host: hostOf(at), readinessProbe });
    },
  );
}

/** The scraper is this process, which does not count. */
export async function pacedBlackbox(world: World, targets: number, program: string): Promise<Paced> {
  const config = join(world.folder, 'blackbox.yml');
  writeFileSync(config, 'modules: {up: {prober: http, timeout: 5s, http: {preferred_ip_protocol: ip4}}}\n');
  const port = await freePort();
  const prober = world.start([
    program,
    `--config.file=${config}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ]);
  const url = `http://127.0.0.1:${port}`;
  await until('the exporter answers', { withinMs: 30_000, pollMs: 50 }, () =>
    fetch(`${url}/-/healthy`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const agent = new Agent({ keepAlive: true });
  const stop = scrapeEach(targets, (at) => {
    const target = `http://${hostOf(at)}:${world.ports.http}/t/${at}`;
    const path = `/probe?module=up&target=${encodeURIComponent(target)}`;
    // A scrape that is under way at the end fails.
    get(`${url}${path}`, { agent }, (response) => response.resume()).on('error', () => undefined);
  });
  const paced = await measure(world, prober);
  stop();
  agent.destroy();
  await endProduct(prober);
  return paced;
}

/** Prometheus spreads its scrapes over the interval, too. */
function scrapeEach(targets: number, scrape: (at: number) => void): () => void {
  const timers = Array.from({ length: targets }, (_, at) => {
    const begin = () => {
      scrape(at);
      timers[at] = setInterval(() => scrape(at), periodMs);
    };
    return setTimeout(begin, (at * periodMs) / targets) as NodeJS.Timeout;
  });
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}
