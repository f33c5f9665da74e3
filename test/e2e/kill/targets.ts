/** More than fifty targets in every state that a process can be killed in, and their real answers to probes. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import type { ProbeInput, TargetSpecInput } from '../../../shared/core/spec/spec-input.ts';
import { targetPath } from '../../support/api-client.ts';
import { startGrpcServer } from '../../support/grpc-server.ts';
import { listenWith } from '../../support/tcp-server.ts';
import { answered, register as registerAt, reportRunning } from '../api.ts';
import type { World } from '../world.ts';

/**
 * `crashing` always fails, `recovering` fails by the clock; both have lifecycle `static` and are never restarted.
 * `restarted` always fails too, and the subscriber reports each of its requested restarts.
 */
export type Family =
  | 'ready'
  | 'failing'
  | 'starting'
  | 'on-hold'
  | 'reported'
  | 'sidecar'
  | 'crashing'
  | 'recovering'
  | 'restarted'
  | 'flapping'
  | 'counting'
  | 'leaving';

export type Response = { readonly timeMs: number; readonly ok: boolean };

export type Cast = {
  readonly families: ReadonlyMap<string, Family>;
  /** Probes answered so far, oldest first; only of targets whose answers are counted. */
  answered(name: string): readonly Response[];
  /** Registers a target and begins its termination at once. */
  addLeaving(name: string, graceSeconds: number): Promise<void>;
  close(): Promise<void>;
};

export const namespace = 'kill';
/** Once they have settled, none of their items may be written again. */
export const stableFamilies: readonly Family[] = ['ready', 'failing', 'starting', 'on-hold', 'reported', 'sidecar'];
/** Of the flapping targets. */
export const flapping = { failureThreshold: 3, successThreshold: 2 };
const flapMs = 8_000;
/** A recovering target fails long enough for three requests, at 0, 10 and 30 s. */
const recoverMs = 50_000;
const failsMs = 36_000;
/** Never reached, so that only the count changes. */
const neverReached = 10_000;

export async function registerCast(world: World): Promise<Cast> {
  const families = new Map<string, Family>();
  const answers = new Map<string, Response[]>();
  const note = (name: string, ok: boolean) => {
    const list = answers.get(name) ?? [];
    answers.set(name, list);
    list.push({ timeMs: Date.now(), ok });
  };
  const http = createServer((request, response) => {
    const [, kind = '', name = ''] = (request.url ?? '').split('/');
    const ok = isWell(kind, Date.now());
    note(name, ok);
    response.writeHead(ok ? 200 : 500, { connection: 'close' }).end();
  });
  const web = await listenWith(http, '127.0.0.1');
  const tcp = await listenWith(
    createTcpServer({ allowHalfOpen: false }).on('connection', (socket) => socket.resume()),
    '127.0.0.1',
  );
  const grpc = await startGrpcServer({ kind: 'grpc-health', statuses: { '': 'SERVING' } });
  const get = (kind: string, name: string): ProbeInput => ({ httpGet: { path: `/${kind}/${name}`, port: web.port } });
  const countFile = (name: string) => join(world.folder, `${name}.count`);

  const pathOf = (name: string) => targetPath(name, namespace);
  const register = async (name: string, family: Family, spec: Partial<TargetSpecInput>) => {
    families.set(name, family);
    await registerAt(world.api, pathOf(name), spec);
    if (spec.lifecycle !== 'reported') return;
    await reportRunning(world.api, pathOf(name), { name: 'app', containerID: `test://${name}` });
  };
  const app = (probes: object): Partial<TargetSpecInput> => ({ containers: [{ name: 'app', ...probes }] });
  const often = (handler: ProbeInput, more: Partial<ProbeInput> = {}): ProbeInput => ({
    ...handler,
    periodSeconds: 1,
    ...more,
  });
  const exec = (script: string): ProbeInput => ({ exec: { command: ['/bin/sh', '-c', script] } });
  const atOnce = { failureThreshold: 1 };
  const never = { failureThreshold: neverReached };
  const reported = { lifecycle: 'reported' } as const;
  const counting = (name: string): ProbeInput => {
    writeFileSync(countFile(name), '');
    return exec(`echo >> '${countFile(name)}'; exit 1`);
  };

  type Row = readonly [
    count: number,
    prefix: string,
    family: Family,
    spec: (name: string, ok: ProbeInput, broken: ProbeInput) => Partial<TargetSpecInput>,
  ];
  const rows: readonly Row[] = [
    [8, 'http', 'ready', (_, ok) => app({ startupProbe: ok, readinessProbe: ok, livenessProbe: ok })],
    [5, 'tcp', 'ready', () => app({ readinessProbe: often({ tcpSocket: { port: tcp.port } }) })],
    [4, 'grpc', 'ready', () => app({ livenessProbe: often({ grpc: { port: grpc.port } }) })],
    [3, 'exec', 'ready', () => app({ readinessProbe: often(exec('exit 0'), { periodSeconds: 2 }) })],
    [5, 'failing', 'failing', (_, _ok, broken) => app({ readinessProbe: broken })],
    [4, 'starting', 'starting', (_, ok, broken) => app({ startupProbe: { ...broken, ...never }, livenessProbe: ok })],
    [
      3,
      'on-hold',
      'on-hold',
      (_, _ok, broken) => ({ ...reported, ...app({ livenessProbe: { ...broken, failureThreshold: 2 } }) }),
    ],
    [3, 'reported', 'reported', (_, ok) => ({ ...reported, ...app({ readinessProbe: ok }) })],
    [
      2,
      'sidecar',
      'sidecar',
      (_, ok) => ({
        initContainers: [{ name: 'side', restartPolicy: 'Always', startupProbe: ok, readinessProbe: ok }],
        containers: [{ name: 'app' }],
      }),
    ],
    [4, 'crashing', 'crashing', (_, _ok, broken) => app({ livenessProbe: { ...broken, ...atOnce } })],
    [3, 'recovering', 'recovering', (name) => app({ livenessProbe: often(get('recover', name), atOnce) })],
    [3, 'restarted', 'restarted', (_, _ok, broken) => app({ livenessProbe: { ...broken, ...atOnce } })],
    [4, 'flapping', 'flapping', (name) => app({ readinessProbe: often(get('flap', name), flapping) })],
    [2, 'counting-http', 'counting', (_, _ok, broken) => app({ readinessProbe: { ...broken, ...never } })],
    [1, 'counting-exec', 'counting', (name) => app({ readinessProbe: often(counting(name), never) })],
  ];
  for (const [count, prefix, family, specOf] of rows)
    for (let at = 0; at < count; at += 1) {
      const name = `${prefix}-${at}`;
      await register(name, family, specOf(name, often(get('ok', name)), often(get('broken', name))));
    }

  return {
    families,
    answered(name) {
      if (!existsSync(countFile(name))) return answers.get(name) ?? [];
      const lines = readFileSync(countFile(name), 'utf8').length;
      return Array.from({ length: lines }, () => ({ timeMs: 0, ok: false }));
    },
    async addLeaving(name, graceSeconds) {
      await register(name, 'leaving', app({ readinessProbe: often(get('ok', name)) }));
      await answered(world.api, 202, ['DELETE', `${pathOf(name)}?gracePeriodSeconds=${graceSeconds}`]);
    },
    async close() {
      await Promise.all([web.close(), tcp.close(), grpc.close()]);
    },
  };
}

function isWell(kind: string, nowMs: number): boolean {
  switch (kind) {
    case 'flap':
      return Math.floor(nowMs / flapMs) % 2 === 0;
    case 'recover':
      return nowMs % recoverMs >= failsMs;
    default:
      return kind === 'ok';
  }
}
