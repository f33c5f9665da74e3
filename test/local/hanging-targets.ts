/** The servers of `hanging.test.ts`, in a process of their own with descriptors enough: one that answers, and one that never does. */
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';

/** When each path was asked for, wall time. */
const asked: Record<string, number[]> = {};

const healthy = createServer((request, response) => {
  const path = request.url ?? '';
  const times = asked[path] ?? [];
  asked[path] = times;
  times.push(Date.now());
  response.end();
});
const hanging = createNetServer((socket) => socket.on('error', () => undefined).resume());

const portOf = (server: { address(): AddressInfo | string | null }) => (server.address() as AddressInfo).port;

healthy.listen(0, '127.0.0.1', () =>
  hanging.listen(0, '127.0.0.1', 1_024, () => process.send?.({ healthy: portOf(healthy), hanging: portOf(hanging) })),
);
process.on('message', () => process.send?.(asked));
process.on('disconnect', () => process.exit());
