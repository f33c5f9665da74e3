/** A server in its own process that answers every request with 200, so that its CPU does not count as the prober's. */
import { createServer } from 'node:http';
import { serveParent } from '../support/children.ts';

serveParent(
  createServer({ keepAlive: false }, (_, response) => {
    response.writeHead(200, { connection: 'close' }).end('ok\n');
  }),
);
