/** The listeners that scenarios probe. They can be restarted as a container is. */
import { createServer, type ServerResponse } from 'node:http';
import { listenWith, type RunningServer, startTcpServer } from '../support/tcp-server.ts';
import type { World } from './world.ts';

export type Asked = {
  readonly path: string;
  /** By the world's monotonic clock. */
  readonly atMs: number;
};

export type App = RunningServer & {
  /** The requests so far. */
  readonly requests: readonly Asked[];
  /** Restarts the app as a container is restarted: its times and counts begin at 0. */
  restart(): void;
};

export type Reply =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Answers so long after the request. */
      readonly afterMs?: number;
    }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' };

export type AppState = {
  readonly path: string;
  /** Time since the last (re)start. */
  readonly runningMs: number;
  readonly restarts: number;
};

/** An HTTP server in which every request is answered as `reply` says. */
export async function httpApp(world: World, reply: (state: AppState) => Reply): Promise<App> {
  const requests: Asked[] = [];
  let startedMs = world.clock.monotonicMs();
  let restarts = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push({ path, atMs: world.clock.monotonicMs() });
    answer(world, response, reply({ path, runningMs: world.clock.monotonicMs() - startedMs, restarts }));
  });
  const running = await listenWith(server, '127.0.0.1');
  return {
    ...running,
    requests,
    restart() {
      startedMs = world.clock.monotonicMs();
      restarts += 1;
    },
  };
}

/** Both ends of a connection within this process. */
const ownConnection = { sockets: 2 };

function answer({ unanswered, clock }: World, response: ServerResponse, reply: Reply): void {
  switch (reply.kind) {
    case 'answer': {
      const { status, headers, afterMs } = reply;
      const send = () => response.writeHead(status, { connection: 'close', ...headers }).end(`${status}\n`);
      if (afterMs === undefined) send();
      else response.once('close', clock.setTimer(afterMs, send));
      return;
    }
    case 'hang':
      response.once('close', unanswered.hold(ownConnection));
      return;
  }
}

export const ok: Reply = { kind: 'answer', status: 200 };
export const broken: Reply = { kind: 'answer', status: 500 };
export const hang: Reply = { kind: 'hang' };
export const redirect = (location: string): Reply => ({ kind: 'answer', status: 302, headers: { location } });

const healthyMs = 10_000;

/**
 * The server that kubelet's tests probe: `/healthz` fails from 10 s after the start, `/redirect?loc=` redirects, and
 * every other path succeeds.
 */
export function livenessApp(world: World): Promise<App> {
  return httpApp(world, ({ path, runningMs }) => {
    const url = new URL(path, 'http://app');
    if (url.pathname === '/redirect') return redirect(url.searchParams.get('loc') ?? '/');
    return url.pathname === '/healthz' && runningMs > healthyMs ? broken : ok;
  });
}

/** A port on which no server listens, now or later. */
export async function closedPort(world: World): Promise<RunningServer> {
  const server = await startTcpServer('closed', '127.0.0.1');
  const release = world.unanswered.hold(ownConnection);
  return {
    port: server.port,
    async close() {
      await server.close();
      release();
    },
  };
}
