/** The targets that most steps play with: one of each protocol, and some that are there to be removed. */
import type { TargetSpecInput } from '../../../../shared/core/spec-input.ts';
import { startGrpcServer } from '../../../support/grpc-server.ts';
import { until } from '../../../support/wait.ts';
import { type Cloud, receivedOf, register, untilReady } from '../cloud.ts';
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
  for (const [name, spec] of Object.entries(specs)) await register(cloud, { namespace, name }, spec);
  return { web, rare, leaving };
}

export const names = ['web', 'socket', 'grpc', 'rare', 'leaving', 'deleted', 'undesired'] as const;

/** By the API, and by the events that the subscriber has received. */
export async function allReady(cloud: Cloud): Promise<void> {
  for (const name of names) await untilReady(cloud, { namespace, name }, 'True', firstMinuteMs);
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

type Told = { readonly conditions: readonly { readonly type: string; readonly status: string }[] };

export const isReadyIn = ({ conditions }: Told): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
