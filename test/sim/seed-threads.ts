/** Seeds in parallel: each thread takes the next one when it is done; outcomes come in the order of the seeds. */
import { Worker } from 'node:worker_threads';
import { newMeasured } from './measure.ts';
import type { Outcome, SimulateOptions } from './simulate.ts';

export type SeedOrder = Omit<SimulateOptions, 'onLine'>;

export type Threads = {
  readonly jobs: number;
  /** One after the other, in the order of the orders. */
  readonly onOutcome: (outcome: Outcome) => void;
  /** How many are done, in whatever order. */
  readonly onProgress?: (done: number) => void;
  /** What a thread runs. */
  readonly script?: URL;
};

/** Ten times what a world of 24 hours needs; with a large young generation collecting takes a tenth less time. */
const resourceLimits = { maxOldGenerationSizeMb: 1_024, maxYoungGenerationSizeMb: 192 };

/**
 * The outcome of each order, one after the other in a thread. For tests: in their own thread the test runner follows
 * every promise, which takes a third longer.
 */
export function simulatedApart(orders: readonly SeedOrder[]): readonly Promise<Outcome>[] {
  const outcomes = orders.map(() => Promise.withResolvers<Outcome>());
  let reported = 0;
  const onOutcome = (outcome: Outcome) => {
    outcomes[reported]?.resolve(outcome);
    reported += 1;
  };
  simulateAll(orders, { jobs: 1, onOutcome }).catch((cause: unknown) => {
    for (const { reject } of outcomes) reject(cause);
  });
  return outcomes.map(({ promise }) => promise);
}

/** Resolves when all are done. A thread that dies is a problem of its seed, and the next seed has another thread. */
export async function simulateAll(orders: readonly SeedOrder[], threads: Threads): Promise<void> {
  const { script = new URL('./seed-thread.ts', import.meta.url) } = threads;
  const waiting = new Map<number, Outcome>();
  let [taken, reported, done] = [0, 0, 0];

  const tell = (index: number, outcome: Outcome) => {
    waiting.set(index, outcome);
    done += 1;
    for (let next = waiting.get(reported); next; next = waiting.get(reported)) {
      waiting.delete(reported);
      reported += 1;
      threads.onOutcome(next);
    }
    threads.onProgress?.(done);
  };
  const lane = async (): Promise<void> => {
    let thread: Worker | undefined;
    for (let order = orders[taken]; order; order = orders[taken]) {
      const index = taken;
      taken += 1;
      thread ??= new Worker(script, { resourceLimits });
      const answer = await askOf(thread, order);
      if (answer.kind === 'died') thread = undefined;
      tell(index, answer.kind === 'died' ? deadOutcome(order, answer.why) : answer.outcome);
    }
    await thread?.terminate();
  };
  await Promise.all(Array.from({ length: threads.jobs }, lane));
}

type Answer = { readonly kind: 'outcome'; readonly outcome: Outcome } | { readonly kind: 'died'; readonly why: string };

function askOf(thread: Worker, order: SeedOrder): Promise<Answer> {
  return new Promise((resolve) => {
    const onMessage = (outcome: Outcome) => settle({ kind: 'outcome', outcome });
    const onError = (error: unknown) =>
      settle({ kind: 'died', why: error instanceof Error ? `${error.stack}` : String(error) });
    const onExit = (code: number) => settle({ kind: 'died', why: `the thread ended with ${code}` });
    const settle = (answer: Answer) => {
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      resolve(answer);
    };
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    thread.postMessage(order);
  });
}

const deadOutcome = ({ seed, hours, world = 'small' }: SeedOrder, why: string): Outcome => ({
  seed,
  hours,
  world,
  violations: [],
  problems: [`the simulation died: ${why}`],
  faults: new Map(),
  crashPoints: new Map(),
  measured: newMeasured(),
  calls: { admitted: 0, throttled: 0, throttledOfRun: 0 },
  traceHash: 'none',
});
