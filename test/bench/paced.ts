/**
 * One HTTP probe a second of each of many targets: all of `npm start`, kubelet's probers each with its ticker, and
 * prometheus-blackbox-exporter behind a scraper. The target counts the probes and how late they come.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemClock as clock, sleep } from '../../shared/lib/clock.ts';
import { until } from '../support/wait.ts';
import { cpuMsOf, rssMbOf, startOfProduct, type World } from './world.ts';

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
/** Targets have addresses of their own, as real ones: closed connections to one would use up its local ports. */
const hosts = 200;
const hostOf = (at: number): string => `127.0.0.${(at % hosts) + 1}`;

async function measure(world: World, prober: ChildProcess): Promise<Paced> {
  await sleep(clock, settleMs);
  const before = cpuMsOf(prober);
  world.reset();
  await sleep(clock, measuredMs);
  const { arrivals, latenessP99Ms } = await world.arrived(periodMs);
  const cpuMicros = ((cpuMsOf(prober) - before) * 1_000) / arrivals;
  return { cpuMicros, latenessP99Ms, rssMb: rssMbOf(prober), achieved: (arrivals * 1_000) / measuredMs };
}

async function end(prober: ChildProcess): Promise<void> {
  const exit = once(prober, 'exit');
  prober.kill();
  await exit;
}

/** kubelet's probers. */
export async function pacedKubelet(world: World, targets: number): Promise<Paced> {
  const prober = world.start([world.peers, 'paced', `${world.ports.http}`, `${targets}`]);
  const paced = await measure(world, prober);
  await end(prober);
  return paced;
}

export async function pacedProduct(world: World, targets: number): Promise<Paced> {
  const { command, env } = startOfProduct();
  const port = await freePort();
  const data = mkdtempSync(join(world.folder, 'data-'));
  const prober = world.start([...command, '--data-dir', data, '--port', `${port}`], env);
  const url = `http://127.0.0.1:${port}`;
  await until('the process is healthy', { withinMs: 60_000, pollMs: 50 }, () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  await registerAll(url, targets, world.ports.http ?? 0);
  world.reset();
  await until('all are probed', { withinMs: 120_000, pollMs: 500 }, async () => {
    return (await world.arrived(periodMs)).paths >= targets;
  });
  const paced = await measure(world, prober);
  await end(prober);
  return paced;
}

const registrationsAtOnce = 16;

async function registerAll(url: string, targets: number, port: number): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let at = next++; at < targets; at = next++) {
      const readinessProbe = {
        httpGet: { port, path: `/t/${at}` },
        periodSeconds: periodMs / 1_000,
        timeoutSeconds: 5,
      };
      const response = await fetch(`${url}/v1/namespaces/default/targets/paced-${at}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ spec: { host: hostOf(at), readinessProbe } }),
      });
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: registrationsAtOnce }, lane));
}

/** Undefined: it is not installed. The scraper is this process, on the other core, and does not count. */
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
  await end(prober);
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

async function freePort(): Promise<number> {
  const server = createServer().listen({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
