/** Every target of a bucket is read again and again by a process that has 0.15 of a core, while some of them flap. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { answerOf, forkBeside } from '../../support/children.ts';
import { exactly, type Figure, unjudged } from '../../support/figures.ts';
import type { Orders, Reloaded } from './reload-prober.ts';
import type { Length, Step } from './step.ts';
import { throttle } from './throttle.ts';

const targets = 390;
const flapping = 20;
const rounds: Readonly<Record<Length, number>> = { full: 12, slice: 6 };
const settleMs = 25_000;

export const reloadStep: Step = {
  name: 'reload',
  alone: true,
  title: `${targets} targets of one bucket read again and again with 0.15 of a core`,
  async run(length) {
    const server = await startServer();
    const prober = forkBeside('reload-prober.ts', import.meta.url);
    try {
      await answerOf(prober);
      await answerOf(prober, { targets, flapping, port: server.port, rounds: rounds[length] } satisfies Orders);
      await sleep(systemClock, settleMs);
      const throttled = throttle(prober);
      const reloaded = (await answerOf(prober, 'go')) as Reloaded;
      throttled.end();
      return figuresOf(reloaded, rounds[length]);
    } finally {
      prober.kill('SIGKILL');
      server.close();
    }
  },
};

function figuresOf({ doubts, degraded, errors, turnsMs }: Reloaded, count: number): readonly Figure[] {
  return [
    unjudged('reloads of all targets', `${count}`),
    exactly('Prober Degraded', degraded, 0),
    exactly('looks at which the prober was in doubt', doubts.length, 0),
    unjudged('why', [...new Set(doubts)].join(', ') || '-'),
    exactly('errors of the prober', errors.length, 0),
    unjudged('longest turns of the event loop, CPU ms', turnsMs.join(', ') || 'none above 20'),
  ];
}

/** Flapping paths fail every other time, so that the prober runs self-checks. */
async function startServer() {
  const asked = new Map<string, number>();
  const server = createServer({ keepAlive: false }, ({ url = '' }, response) => {
    const count = (asked.get(url) ?? 0) + 1;
    asked.set(url, count);
    const isDown = url.startsWith('/flapping') && count % 2 === 0;
    response.writeHead(isDown ? 500 : 200, { connection: 'close' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, close: () => server.close() };
}
