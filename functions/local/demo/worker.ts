/**
 * The process in the container of `npm run demo`: a small server that takes 3 s to start and stops answering once it
 * receives a message. Its argument is the port, 0 for any.
 */
import { createServer } from 'node:http';

const startMs = 3_000;
const begunAtMs = performance.now();
let hangs = false;

const server = createServer((request, response) => {
  if (hangs) return;
  const isStarting = performance.now() - begunAtMs < startMs;
  response.writeHead(request.url === '/started' && isStarting ? 503 : 200).end();
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.(server.address()));
process.once('message', () => {
  hangs = true;
});
process.once('disconnect', () => process.exit());
