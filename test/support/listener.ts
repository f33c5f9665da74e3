/** Accepts connections until it is told to stop listening, in a process of its own, so that its work does not count as the prober's. */
import { createServer } from 'node:net';

/** All targets of a shard that has just been taken over are probed at once. */
const backlog = 4_096;

const server = createServer((socket) => socket.on('error', () => undefined).destroy());
server.listen({ port: 0, host: '127.0.0.1', backlog }, () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.on('message', () => server.close(() => process.send?.('down')));
process.on('disconnect', () => process.exit(0));
