/** The API's server of `npm start` for a test of many clients, which end with the test. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { apiServer } from '../../functions/local/server/api-server.ts';
import { recordingLog } from './recording-log.ts';

type Fetch = (request: Request) => Response | Promise<Response>;
type IsAuthorized = (authorization: string | undefined) => boolean;

const connectionsMax = 500;

/** `open` connects so many clients, whose errors are ignored. */
export async function crowdedApiServer(t: TestContext, fetch: Fetch, isAuthorized?: IsAuthorized) {
  const options = { hostname: '127.0.0.1', connectionsMax, log: recordingLog() };
  const server = apiServer(fetch, { ...options, ...(isAuthorized && { isAuthorized }) });
  const clients: Socket[] = [];
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const client of clients) client.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open = (count: number): readonly Socket[] => {
    const opened = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}));
    clients.push(...opened);
    return opened;
  };
  return { server, port, open };
}
