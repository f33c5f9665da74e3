/** The servers of a step, in their own process on loopback. A message sets the answer of each path. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { slowMs } from './slow-answers.ts';

/** `break`: paths that answer 500 from now on; `mend`: paths that answer 200 again. `/slow/…` answers late. */
export type Told = {
  readonly break?: readonly string[];
  readonly mend?: readonly string[];
  /** `hold`: `/slow/…` does not answer; `release`: it does again, pending requests included. */
  readonly slow?: 'hold' | 'release';
};

export type Answered = {
  readonly port: number;
  /** Requests without an answer at this moment. */
  readonly open: number;
  /** Wall times of the requests since the last message, by path. */
  readonly asked: Readonly<Record<string, readonly number[]>>;
  /**
   * When, and for how long, the servers stood still since the last message: requests at that time were answered late.
   */
  readonly stalls: readonly Stall[];
};

export type Stall = { readonly untilMs: number; readonly ms: number };

const tickMs = 50;
const stallMsMin = 50;

const broken = new Set<string>();
let asked: Record<string, number[]> = {};
let stalls: Stall[] = [];
let open = 0;
/** Pending answers; undefined: answers are not held. */
let held: (() => void)[] | undefined;

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
  if (path.startsWith('/slow/')) setTimeout(() => (held ? held.push(answer) : answer()), slowMs);
  else answer();
});

let tickedAtMs = performance.now();
setInterval(() => {
  const nowMs = performance.now();
  const ms = nowMs - tickedAtMs - tickMs;
  if (ms >= stallMsMin) stalls.push({ untilMs: Date.now(), ms });
  tickedAtMs = nowMs;
}, tickMs);

const tell = () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ port, open, asked, stalls } satisfies Answered);
  asked = {};
  stalls = [];
};

server.listen(0, '127.0.0.1', 4_096, tell);
process.on('message', (told: Told) => {
  for (const path of told.break ?? []) broken.add(path);
  for (const path of told.mend ?? []) broken.delete(path);
  if (told.slow === 'hold') held ??= [];
  if (told.slow === 'release') {
    for (const answer of held ?? []) answer();
    held = undefined;
  }
  tell();
});
process.on('disconnect', () => process.exit());
