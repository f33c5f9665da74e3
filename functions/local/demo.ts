/**
 * `npm run demo`: three servers that start slowly, fail and recover, the product beside them, and the story as its bus tells it: a
 * startup gate, a readiness flip and a liveness restart within half a minute.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventEnvelope } from '../../shared/bus/envelope.ts';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { startRuntime } from './runtime.ts';

const demoMs = 28_000;
const startedAtMs = performance.now();
const elapsedMs = () => performance.now() - startedAtMs;

/** Healthy or not, by the path that a probe asks for. */
type Answers = { [path: string]: boolean };

const shop: Answers = { '/ready': true };
const worker: Answers = { '/live': true };
const legacy: Answers = { '/started': false, '/ready': true };

const script: readonly (readonly [atMs: number, tale: string, act: () => void])[] = [
  [6_000, 'legacy has finished starting', () => Object.assign(legacy, { '/started': true })],
  [9_000, 'shop loses its database', () => Object.assign(shop, { '/ready': false })],
  [14_000, 'shop has its database back', () => Object.assign(shop, { '/ready': true })],
  [17_000, 'worker hangs itself up', () => Object.assign(worker, { '/live': false })],
];

const silent = { info() {}, warn() {}, error: (message: string, fields: unknown) => console.error(message, fields) };
const runtime = startRuntime({ dataDir: ':memory:' }, { clock: systemClock, random: systemRandom, log: silent });
runtime.bus.subscribe({ source: ['probelet'] }, (event) => tell(event), { name: 'story' });
runtime.bus.subscribe(
  { 'detail-type': ['Container Restart Requested'] },
  () => {
    say('you', 'a subscriber of yours restarts worker');
    Object.assign(worker, { '/live': true });
  },
  { name: 'restarter' },
);
await runtime.shard.loaded;

const servers = [await listen(shop), await listen(worker), await listen(legacy)] as const;
const probe = { periodSeconds: 1, failureThreshold: 2 };
await register('shop', { readinessProbe: { ...probe, httpGet: { path: '/ready', port: portOf(servers[0]) } } });
await register('worker', {
  livenessProbe: { ...probe, failureThreshold: 3, httpGet: { path: '/live', port: portOf(servers[1]) } },
});
await register('legacy', {
  startupProbe: { ...probe, failureThreshold: 30, httpGet: { path: '/started', port: portOf(servers[2]) } },
  readinessProbe: { periodSeconds: 30, httpGet: { path: '/ready', port: portOf(servers[2]) } },
});

for (const [atMs, tale, act] of script) {
  await sleep(systemClock, atMs - elapsedMs());
  say('world', tale);
  act();
}
await sleep(systemClock, demoMs - elapsedMs());
await printStory('/v1/namespaces/demo/targets/worker/events');
await runtime.stop();
for (const server of servers) server.close();

function listen(answers: Answers): Promise<Server> {
  const server = createServer((request, response) => {
    response.statusCode = answers[request.url ?? ''] ? 200 : 503;
    response.end();
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function register(name: string, probes: object): Promise<void> {
  const response = await call('PUT', `/v1/namespaces/demo/targets/${name}`, { spec: { host: '127.0.0.1', ...probes } });
  if (!response.ok) throw new Error(`${name} was refused: ${await response.text()}`);
  say('you', `register ${name}`);
}

function call(method: string, path: string, body?: object): Promise<Response> {
  const request = new Request(`http://127.0.0.1${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return Promise.resolve(runtime.fetch(request));
}

function say(who: string, what: string): void {
  console.log(`${(elapsedMs() / 1000).toFixed(1).padStart(5)} s  ${who.padEnd(7)} ${what}`);
}

function tell(event: EventEnvelope): void {
  const line = storyLine(event);
  if (line !== undefined && 'target' in event.detail) say(event.detail.target.name, line);
}

function storyLine({ 'detail-type': type, detail }: EventEnvelope): string | undefined {
  if ('result' in detail && 'version' in detail) {
    return `${type}: ${detail.probeType} ${detail.previousResult ?? 'none'} -> ${detail.result ?? 'none'} ${detail.output && `(${detail.output})`}`;
  }
  if ('newStatus' in detail)
    return `${type}: ${detail.newStatus.conditions.map((each) => `${each.type}=${each.status}`).join(' ')}, ${containersLine(detail.newStatus.containers)}`;
  if ('message' in detail) return `${type}: ${detail.message}`;
  return undefined;
}

function containersLine(
  containers: readonly {
    readonly name: string;
    readonly started: boolean;
    readonly ready: boolean;
    readonly restartCount: number;
  }[],
): string {
  return containers
    .map((each) => `${each.name}: started=${each.started} ready=${each.ready} restarts=${each.restartCount}`)
    .join('; ');
}

type Told = {
  readonly time: string;
  readonly reason: string;
  readonly message: string;
  readonly attempts: readonly {
    readonly output: string;
    readonly failureClass?: string;
    readonly timings: { readonly totalMs: number };
  }[];
};

async function printStory(path: string): Promise<void> {
  console.log(`\nGET ${path}\n`);
  const { items } = (await (await call('GET', path)).json()) as { readonly items: readonly Told[] };
  for (const { time, reason, message, attempts } of items) {
    console.log(`${time.slice(11, 23)}  ${reason.padEnd(18)} ${message}`);
    for (const { failureClass = 'success', output, timings } of attempts)
      console.log(`${' '.repeat(35)}${failureClass} in ${timings.totalMs} ms ${output}`);
  }
}
