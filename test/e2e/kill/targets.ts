/** More than fifty targets in every state that a process can be killed in, and what they really answered when they were probed. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import type { ProbeInput, TargetSpecInput } from '../../../shared/core/spec-input.ts';
import { startGrpcServer } from '../../support/grpc-server.ts';
import { listenWith } from '../../support/tcp-server.ts';
import type { World } from '../world.ts';

/**
 * `crashing` fails for ever, `recovering` by the clock; both have lifecycle `static` and are never restarted. Of `restarted`, which fails for
 * ever too, the subscriber reports every restart that is requested.
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
/** Once settled nothing of them may ever be written again, whatever is killed. */
export const stableFamilies: readonly Family[] = ['ready', 'failing', 'starting', 'on-hold', 'reported', 'sidecar'];
/** Of the flapping targets. */
export const flapping = { failureThreshold: 3, successThreshold: 2 };
const flapMs = 8_000;
/** A recovering target fails long enough for three requests, at 0, 10 and 30 s. */
const recoverMs = 50_000;
const failsMs = 36_000;
/** Never reached, so that nothing but the count changes. */
const neverReached = 10_000;
const often = { periodSeconds: 1 } as const;

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

  const register = async (name: string, family: Family, spec: Partial<TargetSpecInput>) => {
    families.set(name, family);
    const path = `/v1/namespaces/${namespace}/targets/${name}`;
    const { status, body } = await world.api('PUT', path, { spec: { host: '127.0.0.1', ...spec } });
    assert.equal(status, 201, JSON.stringify(body));
  };
  const app = (probes: object): Partial<TargetSpecInput> => ({ containers: [{ name: 'app', ...probes }] });
  const several = async (count: number, name: string, add: (name: string) => Promise<void>) => {
    for (let at = 0; at < count; at += 1) await add(`${name}-${at}`);
  };

  await several(8, 'http', (name) => {
    const probe = { ...get('ok', name), ...often };
    return register(name, 'ready', app({ startupProbe: probe, readinessProbe: probe, livenessProbe: probe }));
  });
  await several(5, 'tcp', (name) =>
    register(name, 'ready', app({ readinessProbe: { tcpSocket: { port: tcp.port }, ...often } })),
  );
  await several(4, 'grpc', (name) =>
    register(name, 'ready', app({ livenessProbe: { grpc: { port: grpc.port }, ...often } })),
  );
  await several(3, 'exec', (name) =>
    register(
      name,
      'ready',
      app({ readinessProbe: { exec: { command: ['/bin/sh', '-c', 'exit 0'] }, periodSeconds: 2 } }),
    ),
  );
  await several(5, 'failing', (name) =>
    register(name, 'failing', app({ readinessProbe: { ...get('broken', name), ...often } })),
  );
  await several(4, 'starting', (name) => {
    const startupProbe = { ...get('broken', name), ...often, failureThreshold: neverReached };
    return register(name, 'starting', app({ startupProbe, livenessProbe: { ...get('ok', name), ...often } }));
  });
  const report = async (name: string) => {
    const running = {
      name: 'app',
      containerID: `test://${name}`,
      state: { running: { startedAt: new Date().toISOString() } },
    };
    const path = `/v1/namespaces/${namespace}/targets/${name}/status`;
    const { status, body } = await world.api('PUT', path, {
      status: { phase: 'Running', containerStatuses: [running] },
    });
    assert.equal(status, 200, JSON.stringify(body));
  };
  await several(3, 'on-hold', async (name) => {
    const livenessProbe = { ...get('broken', name), ...often, failureThreshold: 2 };
    await register(name, 'on-hold', { lifecycle: 'reported', ...app({ livenessProbe }) });
    await report(name);
  });
  await several(3, 'reported', async (name) => {
    const readinessProbe = { ...get('ok', name), ...often };
    await register(name, 'reported', { lifecycle: 'reported', ...app({ readinessProbe }) });
    await report(name);
  });
  await several(2, 'sidecar', (name) => {
    const probe = { ...get('ok', name), ...often };
    const sidecar = { name: 'side', restartPolicy: 'Always' as const, startupProbe: probe, readinessProbe: probe };
    return register(name, 'sidecar', { initContainers: [sidecar], containers: [{ name: 'app' }] });
  });
  await several(4, 'crashing', (name) =>
    register(name, 'crashing', app({ livenessProbe: { ...get('broken', name), ...often, failureThreshold: 1 } })),
  );
  await several(3, 'recovering', (name) =>
    register(name, 'recovering', app({ livenessProbe: { ...get('recover', name), ...often, failureThreshold: 1 } })),
  );
  await several(3, 'restarted', (name) =>
    register(name, 'restarted', app({ livenessProbe: { ...get('broken', name), ...often, failureThreshold: 1 } })),
  );
  await several(4, 'flapping', (name) =>
    register(name, 'flapping', app({ readinessProbe: { ...get('flap', name), ...often, ...flapping } })),
  );
  await several(2, 'counting-http', (name) =>
    register(
      name,
      'counting',
      app({ readinessProbe: { ...get('broken', name), ...often, failureThreshold: neverReached } }),
    ),
  );
  await several(1, 'counting-exec', (name) => {
    writeFileSync(countFile(name), '');
    const command = ['/bin/sh', '-c', `echo >> '${countFile(name)}'; exit 1`];
    const readinessProbe = { exec: { command }, ...often, failureThreshold: neverReached };
    return register(name, 'counting', app({ readinessProbe }));
  });

  return {
    families,
    answered(name) {
      if (!existsSync(countFile(name))) return answers.get(name) ?? [];
      const lines = readFileSync(countFile(name), 'utf8').length;
      return Array.from({ length: lines }, () => ({ timeMs: 0, ok: false }));
    },
    async addLeaving(name, graceSeconds) {
      await register(name, 'leaving', app({ readinessProbe: { ...get('ok', name), ...often } }));
      const path = `/v1/namespaces/${namespace}/targets/${name}?gracePeriodSeconds=${graceSeconds}`;
      assert.equal((await world.api('DELETE', path)).status, 202);
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
