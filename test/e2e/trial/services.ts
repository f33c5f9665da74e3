/** The services under trial: nginx, haproxy, Redis, PostgreSQL, and listeners for HTTP, HTTPS and gRPC. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { get as getHttp } from 'node:http';
import { createServer as createHttps, get as getHttps } from 'node:https';
import { join } from 'node:path';
import type { ProbeInput } from '../../../shared/core/spec/spec-input.ts';
import { selfSigned } from '../../support/certificate.ts';
import { freePort } from '../../support/free-port.ts';
import { startGrpcServer } from '../../support/grpc-server.ts';
import { listenWith } from '../../support/tcp-server.ts';
import { hang, httpApp, ok, type Reply } from '../apps.ts';
import type { World } from '../world.ts';
import { type Command, folderOf, type Program, pathOf, programOf, runOnce } from './programs.ts';

/** After `end` the service may take time to recover: `isWell` says when it has. */
export type Fault = { begin(): unknown; end(): unknown };

export type Service = {
  /** What a probe of it may ask, by the name that the table of cases uses. */
  readonly handlers: Readonly<Record<string, ProbeInput>>;
  readonly faults: Readonly<Record<string, Fault>>;
  /** Whether it answers well when this script asks. */
  isWell(): Promise<boolean>;
  close(): Promise<unknown>;
  /** What it has printed, for a service that does not become well. */
  readonly printed?: () => string;
};

/** Starts a service in a folder of this name. */
export type StartService = (name: string, world: World) => Promise<Service>;

const askMsMax = 1_000;

const httpGet = (port: number, more: Partial<ProbeInput['httpGet']> = {}): ProbeInput => ({
  httpGet: { port, ...more },
});
const tcpSocket = (port: number): ProbeInput => ({ tcpSocket: { port } });
/** The trial's world allows `/bin/sh`. */
const shell = (script: string): ProbeInput => ({ exec: { command: ['/bin/sh', '-c', script] } });

const faultsOf = (program: Program): Service['faults'] => ({
  stop: { begin: () => program.stop(), end: () => program.start() },
  pause: { begin: () => program.pause(), end: () => program.resume() },
});

function started(command: Command): Program {
  const program = programOf(command);
  program.start();
  return program;
}

type Asked = Pick<Service, 'handlers' | 'isWell'> & { readonly faults?: Service['faults'] };

/** The service that this program is; it can be stopped and paused, beside `faults`. */
const serviceOf = (program: Program, { faults = {}, ...asked }: Asked): Service => ({
  ...asked,
  faults: { ...faultsOf(program), ...faults },
  close: () => program.stop(),
  printed: program.printed,
});

type Statuses = { readonly ready: number; readonly other: number };

const nginxConfig = (port: number, { ready, other }: Statuses): string => `
daemon off;
pid nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${kind};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    location = /ready { return ${ready}; }
    location / { return ${other}; }
  }
}
`;

export const nginx: StartService = async (name) => {
  const folder = folderOf(name);
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  const write = (statuses: Statuses) => writeFileSync(config, nginxConfig(port, statuses));
  write({ ready: 200, other: 200 });
  const program = started({ name: 'nginx', args: ['-p', folder, '-c', config, '-e', 'stderr'], folder });
  const answer = (statuses: Statuses) => {
    write(statuses);
    program.signal('SIGHUP');
  };
  const answering = (statuses: Statuses): Fault => ({
    begin: () => answer(statuses),
    end: () => answer({ ready: 200, other: 200 }),
  });
  return serviceOf(program, {
    handlers: { get: httpGet(port), getReady: httpGet(port, { path: '/ready' }) },
    faults: { 503: answering({ ready: 503, other: 503 }), drained: answering({ ready: 503, other: 200 }) },
    isWell: async () => (await answers(port)) && (await answers(port, '/ready')),
  });
};

const haproxyConfig = (port: number, backend: number): string => `
global
  maxconn 1000
defaults
  mode http
  retries 0
  timeout connect 5s
  timeout client 30s
  timeout server 30s
listen front
  bind 127.0.0.1:${port}
  server backend 127.0.0.1:${backend}
`;

/** In front of an nginx. */
export const haproxy: StartService = async (name, world) => {
  const folder = folderOf(name);
  const port = await freePort();
  const backend = await nginx(`${name}-backend`, world);
  const config = join(folder, 'haproxy.cfg');
  writeFileSync(config, haproxyConfig(port, backend.handlers.get?.httpGet?.port as number));
  const program = started({ name: 'haproxy', args: ['-db', '-f', config], folder });
  const ofBackend = Object.entries(backend.faults).map(([fault, play]) => [`backend ${fault}`, play]);
  const service = serviceOf(program, {
    handlers: { get: httpGet(port), connect: tcpSocket(port) },
    faults: Object.fromEntries(ofBackend),
    isWell: () => answers(port),
  });
  return { ...service, close: () => Promise.all([service.close(), backend.close()]) };
};

export const redis: StartService = async (name) => {
  const folder = folderOf(name);
  const port = await freePort();
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const program = started({ name: 'redis-server', args, folder });
  const ping = `${pathOf('redis-cli')} -p ${port} ping | grep -q PONG`;
  const handlers = { connect: tcpSocket(port), ping: shell(ping) };
  return serviceOf(program, { handlers, isWell: () => succeeds(ping) });
};

export const postgres: StartService = async (name) => {
  const folder = folderOf(name);
  const port = await freePort();
  const data = join(folder, 'data');
  const initdb = ['-D', data, '-U', 'trial', '-A', 'trust', '--no-sync'];
  await runOnce({ name: 'initdb', args: initdb, folder, isUnprivileged: true });
  const args = ['-D', data, '-p', `${port}`, '-k', folder, '-h', '127.0.0.1', '-F'];
  const program = started({ name: 'postgres', args, folder, isUnprivileged: true });
  const isReady = `${pathOf('pg_isready')} -q -h 127.0.0.1 -p ${port}`;
  const handlers = { connect: tcpSocket(port), isReady: shell(isReady) };
  return serviceOf(program, { handlers, isWell: () => succeeds(isReady) });
};

const unavailable: Reply = { kind: 'answer', status: 503 };
/** Longer than any time-out in the table of cases. */
const slow: Reply = { kind: 'answer', status: 200, afterMs: 5_000 };

export const app: StartService = async (_name, world) => {
  let reply = ok;
  const { port, close } = await httpApp(world, () => reply);
  const replying = (worse: Reply): Fault => ({
    begin() {
      reply = worse;
    },
    end() {
      reply = ok;
    },
  });
  return {
    handlers: { get: httpGet(port) },
    faults: { 503: replying(unavailable), hang: replying(hang), slow: replying(slow) },
    isWell: () => answers(port),
    close,
  };
};

const dayMs = 86_400_000;

/** A certificate that is valid from one day to another, both relative to today. */
const certificate = (hostname: string, fromDays: number, toDays: number) => {
  const at = (days: number) => new Date(Date.now() + days * dayMs);
  return selfSigned({ hostname, notBefore: at(fromDays), notAfter: at(toDays) });
};

export const https: StartService = async () => {
  const right = certificate('localhost', -1, 1);
  const wrong = certificate('elsewhere.test', -2, -1);
  const server = createHttps(right, (_request, response) => response.writeHead(200, { connection: 'close' }).end());
  server.on('tlsClientError', () => undefined);
  const { port, close } = await listenWith(server, '127.0.0.1');
  const presenting = (other: Partial<typeof right>): Fault => ({
    begin: () => server.setSecureContext(other),
    end: () => server.setSecureContext(right),
  });
  return {
    handlers: { get: httpGet(port, { scheme: 'HTTPS' }) },
    faults: { 'no certificate': presenting({}), 'wrong certificate': presenting(wrong) },
    isWell: () => answers(port, '/', getHttps),
    close,
  };
};

export const grpc: StartService = async () => {
  const statuses = { '': 'SERVING' };
  const { port, close } = await startGrpcServer({ kind: 'grpc-health', statuses });
  const serving = (status: string) => () => {
    statuses[''] = status;
  };
  return {
    handlers: { check: { grpc: { port } } },
    faults: { 'not serving': { begin: serving('NOT_SERVING'), end: serving('SERVING') } },
    // The server reads the status at each request.
    isWell: () => Promise.resolve(statuses[''] === 'SERVING'),
    close,
  };
};

/** Asks over a new connection, and does not verify the certificate. */
function answers(port: number, path = '/', get: typeof getHttp | typeof getHttps = getHttp): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path, agent: false, timeout: askMsMax, rejectUnauthorized: false };
    const request = get(options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

const succeeds = (script: string): Promise<boolean> =>
  new Promise((resolve) => {
    execFile('/bin/sh', ['-c', script], { timeout: askMsMax }, (error) => resolve(error === null));
  });
