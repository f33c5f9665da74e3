/**
 * `npm run demo`: a server and a process that fail and recover, with probelet beside them, and the events that it
 * publishes. Within half a minute it shows a startup gate, a readiness flip, a liveness failure, the restart request,
 * the report of the restart, and the recovery.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventEnvelope } from '../../../shared/bus/bus.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { startRuntime } from '../process/runtime.ts';
import { startContainer } from './container.ts';
import { eventLine, type HistoryEntry, historyLines, isReadyIn } from './lines.ts';

const demoMsMax = 30_000;
const startedAtMs = performance.now();
const tooLong = setTimeout(() => {
  throw new Error(`the demo has not ended after ${demoMsMax} ms`);
}, demoMsMax);

const silent = { info() {}, warn() {}, error: (message: string, fields: unknown) => console.error(message, fields) };
const runtime = startRuntime({ dataDir: ':memory:' }, { clock: systemClock, random: systemRandom, log: silent });
await runtime.shard.loaded;

let hasDatabase = true;
const shop = createServer((_, response) => response.writeHead(hasDatabase ? 200 : 503).end());
await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
const worker = await startContainer();
say('you', `run worker as process ${worker.pid()}`);

runtime.bus.subscribe({ source: ['probelet'] }, print, { name: 'printer' });
const restarted = new Set<string>();
runtime.bus.subscribe({ 'detail-type': ['Container Restart Requested'] }, restart, { name: 'restarter' });

const often = { periodSeconds: 1, failureThreshold: 2 };
const port = (shop.address() as AddressInfo).port;
await follows([turns('shop', true), turns('worker', true)], async () => {
  await register('shop', { readinessProbe: { ...often, httpGet: { path: '/', port } } });
  await register('worker', {
    startupProbe: { ...often, failureThreshold: 30, httpGet: { path: '/started', port: worker.port } },
    livenessProbe: { ...often, httpGet: { path: '/live', port: worker.port } },
  });
});
await follows([turns('shop', false)], () => {
  say('world', 'shop loses its database');
  hasDatabase = false;
});
await follows([turns('shop', true)], () => {
  say('world', 'shop has its database back');
  hasDatabase = true;
});
await follows([next((event) => event['detail-type'] === 'Container Recovered'), turns('worker', true)], () => {
  say('world', 'worker hangs');
  worker.hang();
});
await printHistory('/v1/namespaces/demo/targets/worker/events');

await runtime.stop();
await worker.stop();
shop.close();
clearTimeout(tooLong);

/** An example subscriber: it restarts each container once and reports the restart. */
async function restart({ detail }: EventEnvelope): Promise<void> {
  if (!('attempt' in detail) || restarted.has(detail.containerID)) return;
  const { container, containerID } = detail;
  restarted.add(containerID);
  await worker.restart();
  say('you', `run worker as process ${worker.pid()}, and report the restart`);
  await call('POST', '/v1/namespaces/demo/targets/worker/restarted', { container, containerID });
}

/** Performs an action and waits for the events that follow from it. */
async function follows(events: readonly Promise<void>[], act: () => Promise<void> | void): Promise<void> {
  await act();
  await Promise.all(events);
}

/** Resolves at the next matching event. */
function next(isIt: (event: EventEnvelope) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = runtime.bus.subscribe({ source: ['probelet'] }, (event) => {
      if (!isIt(event)) return;
      stop();
      resolve();
    });
  });
}

function turns(name: string, isReady: boolean): Promise<void> {
  return next(
    ({ detail }) => 'newStatus' in detail && detail.target.name === name && isReadyIn(detail.newStatus) === isReady,
  );
}

async function register(name: string, probes: object): Promise<void> {
  say('you', `register ${name}`);
  await call('PUT', `/v1/namespaces/demo/targets/${name}`, { spec: { host: '127.0.0.1', ...probes } });
}

async function call(method: string, path: string, body?: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const init = { method, ...(body && { body: JSON.stringify(body), headers }) };
  const response = await runtime.fetch(new Request(`http://127.0.0.1${path}`, init));
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

function say(who: string, what: string): void {
  const seconds = (performance.now() - startedAtMs) / 1_000;
  console.log(`${seconds.toFixed(1).padStart(5)} s  ${who.padEnd(7)} ${what}`);
}

function print(event: EventEnvelope): void {
  const line = eventLine(event);
  if (line !== undefined && 'target' in event.detail) say(event.detail.target.name, line);
}

async function printHistory(path: string): Promise<void> {
  console.log(`\nGET ${path}\n`);
  const { items } = (await call('GET', path)) as { readonly items: readonly HistoryEntry[] };
  for (const line of historyLines(items)) console.log(line);
}
