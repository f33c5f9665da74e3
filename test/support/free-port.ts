/** Ports for servers that must be given one before they start. */
import { createServer } from 'node:net';

/**
 * Below the ports that the kernel gives to outgoing connections and to listeners that name none. Such a port would be
 * taken by another listener before a slow server binds it, and that listener would answer in its place; and a probe
 * whose own port is that of a stopped server would connect to itself, and succeed.
 */
const lowest = 10_000;
const highest = 30_000;
const triesMax = 100;

/** A port of the loopback interface on which nothing listens. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await isFree(port)) return port;
  }
  throw new Error('no free port');
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
