/** Servers of a step in a process of their own, on loopback: they answer as told, each path for itself, and know who waits. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Paths that answer 500 from now on, and those that answer 200 again: all do at first. `/slow/…` takes its time. */
export type Told = { readonly break?: readonly string[]; readonly mend?: readonly string[] };

export type Answered = {
  readonly port: number;
  /** Requests without an answer at this moment. */
  readonly open: number;
  /** Wall times of the requests since the last word, by path. */
  readonly asked: Readonly<Record<string, readonly number[]>>;
};

/** Of a time-out of a second. */
const slowMs = 700;

const broken = new Set<string>();
let asked: Record<string, number[]> = {};
let open = 0;

const server = createServer({ keepAlive: false }, (request, response) => {
  const path = request.url ?? '';
  const times = asked[path] ?? [];
  asked[path] = times;
  times.push(Date.now());
  open += 1;
  response.once('close', () => {
    open -= 1;
  });
  const answer = () => response.writeHead(broken.has(path) ? 500 : 200, { connection: 'close' }).end();
  if (path.startsWith('/slow/')) setTimeout(answer, slowMs);
  else answer();
});

const tell = () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ port, open, asked } satisfies Answered);
  asked = {};
};

server.listen(0, '127.0.0.1', 4_096, tell);
process.on('message', (told: Told) => {
  for (const path of told.break ?? []) broken.add(path);
  for (const path of told.mend ?? []) broken.delete(path);
  tell();
});
process.on('disconnect', () => process.exit());
