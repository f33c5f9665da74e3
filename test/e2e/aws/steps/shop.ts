/** The targets that most steps play with: one of each protocol, and some that are there to be removed. */
import assert from 'node:assert/strict';
import type { TargetSpecInput } from '../../../../shared/core/spec/spec-input.ts';
import { startGrpcServer } from '../../../support/grpc-server.ts';
import { until } from '../../../support/wait.ts';
import { type Cloud, receivedOf } from '../cloud.ts';
import { socketServer, type WebServer, webServer } from '../servers.ts';

export const namespace = 'shop';

export type Shop = { readonly web: WebServer; readonly rare: WebServer; readonly leaving: WebServer };

/** The emulator's schedule begins to count its minute when it is deployed, and looks every 10 s. */
const firstMinuteMs = 100_000;
const receivedWithinMs = 15_000;

export const container = (port: number, path: string): TargetSpecInput => ({
  containers: [
    {
      name: 'app',
      readinessProbe: { httpGet: { path, port }, periodSeconds: 1, failureThreshold: 2 },
      livenessProbe: { httpGet: { path: '/live', port }, periodSeconds: 1, failureThreshold: 5 },
    },
  ],
});

const readyAt = (port: number, periodSeconds = 1): TargetSpecInput => ({
  readinessProbe: { httpGet: { path: '/ready', port }, periodSeconds },
  terminationGracePeriodSeconds: 1,
});

/** Registers all of them. */
export async function openShop(cloud: Cloud): Promise<Shop> {
  const [web, rare, leaving] = [await webServer(), await webServer(), await webServer()];
  const [socket, grpc] = [
    await socketServer(),
    await startGrpcServer({ kind: 'grpc-health', statuses: { '': 'SERVING' } }),
  ];
  for (const stop of [web.stop, rare.stop, leaving.stop, socket.stop, grpc.close]) cloud.use(stop);
  const specs: Readonly<Record<string, TargetSpecInput>> = {
    web: container(web.port, '/ready'),
    socket: { readinessProbe: { tcpSocket: { port: socket.port }, periodSeconds: 1 } },
    grpc: { readinessProbe: { grpc: { port: grpc.port }, periodSeconds: 1 } },
    rare: readyAt(rare.port, 3_600),
    leaving: readyAt(leaving.port),
    deleted: readyAt(leaving.port),
    undesired: readyAt(leaving.port),
  };
  const lines = Object.keys(specs).map((name) => `target/${name} created\n`);
  assert.equal(await cloud.cli(['apply', '-f', cloud.cli.fileOf('shop.yaml', manifestsOf(specs))]), lines.join(''));
  return { web, rare, leaving };
}

/** JSON is YAML, too. */
const manifestsOf = (specs: Readonly<Record<string, TargetSpecInput>>): string =>
  Object.entries(specs)
    .map(([name, spec]) => ({
      apiVersion: 'probelet.dev/v1',
      kind: 'Target',
      metadata: { name },
      spec: { host: '127.0.0.1', ...spec },
    }))
    .map((manifest) => `---\n${JSON.stringify(manifest)}\n`)
    .join('');

export const names = ['web', 'socket', 'grpc', 'rare', 'leaving', 'deleted', 'undesired'] as const;

/** By the API, and by the events that the subscriber has received. */
export async function allReady(cloud: Cloud): Promise<void> {
  const targets = names.map((name) => `target/${name}`);
  const wait = ['wait', ...targets, '--for=condition=Ready', '--timeout', `${firstMinuteMs}ms`];
  assert.equal(await cloud.cli(wait), targets.map((each) => `${each} condition met\n`).join(''));
  for (const name of names)
    await until(`the subscriber hears that ${name} is ready`, receivedWithinMs, () => {
      const results = receivedOf(cloud, 'Probe Result Changed', name);
      const statuses = receivedOf(cloud, 'Target Status Changed', name);
      return (
        results.some(({ event }) => event.detail.probeType === 'readiness' && event.detail.result === 'success') &&
        statuses.some(({ event }) => isReadyIn(event.detail.newStatus))
      );
    });
}

/** What the command line shows of them. */
export async function shown({ cli }: Cloud): Promise<void> {
  const sorted = names.toSorted();
  assert.equal(await cli(['get', 'targets', '-o', 'name']), sorted.map((name) => `target/${name}\n`).join(''));
  const rows = (await cli(['get', 'targets'])).split('\n').slice(1, -1);
  for (const [at, name] of sorted.entries())
    assert.match(rows[at] ?? '', new RegExp(`^${name} +1/1 +Running +0 +\\S+$`));
  assert.match(await cli(['get', 'probes', '-A']), /^NAMESPACE .*\n(.*\n)*shop +grpc +\S+ +readiness +success/);
  const described = await cli(['describe', 'target/web']);
  for (const line of [/Ready +True/, /liveness +success/, /ProbeResultChanged +readiness of app: success/])
    assert.match(described, line);
  // What has an hour's period and does not change is seen by its server alone.
  assert.match(await cli(['probe', 'target/socket']), /readiness +success/);
}

type Told = { readonly conditions: readonly { readonly type: string; readonly status: string }[] };

export const isReadyIn = ({ conditions }: Told): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
