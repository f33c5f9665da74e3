/** The API of a world on a loopback port, and the command line that talks to it. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { subscribeStatusSync } from '../../../functions/local/process/status-sync.ts';
import { apiServer } from '../../../functions/local/server/api-server.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { apiWorld, testToken, type World } from '../../api/world.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Ran, type RunOptions, ranCli } from './run.ts';

export type Served = {
  readonly world: World;
  readonly url: string;
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Ran>;
};

/** Ends with the tests of the file that calls this. */
export async function servedWorld(overrides: Parameters<typeof apiWorld>[0] = {}): Promise<Served> {
  const world = apiWorld(overrides);
  const { store, bus, clock, log } = world;
  subscribeStatusSync(bus, { store, bus, clock, random: systemRandom, log });
  const url = await served((request) => world.app.fetch(request));
  return { world, url, run: runnerOf(url, world) };
}

/** The address at which the API of this handler listens. */
export const served = (fetch: (request: Request) => Response | Promise<Response>): Promise<string> =>
  listening(apiServer(fetch, { hostname: '127.0.0.1', connectionsMax: 100, log: recordingLog() }));

/** What a command prints about the server of this address. */
export function runnerOf(url: string, world: Pick<World, 'clock'>): Served['run'] {
  const home = temporaryFolder();
  return async (args, { env, ...options } = {}) => {
    const clock = { ...world.clock };
    const ran = await ranCli(args, { env: { HOME: home, PROBELET_URL: url, ...env }, clock, ...options });
    const masked = (text: string) => (url === '' ? text : text.replaceAll(url, 'URL')).replaceAll(home, 'HOME');
    return { ...ran, out: masked(ran.out), err: ran.err.map(masked) };
  };
}

/** A server that is not the API. */
export const foreignServer = (listener: RequestListener): Promise<string> => listening(createServer(listener));

async function listening(server: Server): Promise<string> {
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export { testToken };
