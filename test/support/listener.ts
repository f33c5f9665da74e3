/**
 * Accepts connections until it is asked to stop, in its own process, so that its CPU does not count as the prober's.
 */
import { createServer } from 'node:net';
import { serveParent } from './children.ts';

const server = createServer((socket) => socket.on('error', () => undefined).destroy());
serveParent(server);
process.on('message', () => server.close(() => process.send?.('down')));
