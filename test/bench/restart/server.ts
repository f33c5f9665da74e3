/** A healthy HTTP server in a process of its own, which remembers when each path was first requested. */
import { createServer } from 'node:http';
import { serveParent } from '../../support/children.ts';

/** Paths requested since the last `reset`, and when the newest of them came. */
export type Requested = { readonly paths: number; readonly lastAtMs: number };

const paths = new Set<string>();
let lastAtMs = 0;

const server = createServer({ keepAlive: false }, ({ url = '' }, response) => {
  if (!paths.has(url)) {
    paths.add(url);
    lastAtMs = Date.now();
  }
  response.writeHead(200, { connection: 'close' }).end('ok\n');
});
serveParent(server);
process.on('message', (message) => {
  if (message === 'reset') paths.clear();
  process.send?.({ paths: paths.size, lastAtMs } satisfies Requested);
});
