/** A server in a process of its own that says yes to everything, so that its work does not count as the prober's. */
import { createServer } from 'node:http';

const server = createServer({ keepAlive: false }, (_, response) => {
  response.writeHead(200, { connection: 'close' }).end('ok\n');
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.on('disconnect', () => process.exit(0));
