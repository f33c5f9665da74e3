/** A healthy HTTP server in a process of its own, which remembers when each path was first requested. */
import { createServer } from 'node:http';

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
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.on('message', (message) => {
  if (message === 'reset') paths.clear();
  process.send?.({ paths: paths.size, lastAtMs } satisfies Requested);
});
process.on('disconnect', () => process.exit(0));
