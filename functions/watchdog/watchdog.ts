/**
 * The watchdog: a thread that ends the process when its event loop hangs; a hanging loop runs no timers. It reports
 * the probe that the loop was running, both in the log and to the next start. A supervisor restarts the process.
 */
import { Worker } from 'node:worker_threads';
import { hungProbeParts } from '../../shared/holder/probing/hung-probe.ts';
import type { Attribution } from '../../shared/lib/attribution.ts';
import type { Log } from '../../shared/lib/log.ts';
import { sharedAttribution } from './attribution.ts';
import { cell, lengthBytes, rowBytes, sharedCells } from './cells.ts';
import { type WatchOrder, watchScript } from './thread.ts';

/**
 * The loop hangs if for this long it has neither turned nor begun any work. A slice of work should take no more than
 * 5 ms.
 */
const hangMsDefault = 15_000;
/** Ends a process that was asked to stop, if its timer did not do so earlier (functions/local/main.ts). */
const stopMs = 4_900;
/** Long, because a small function on AWS shares its CPU with the hung loop. */
const rememberMs = 10_000;
/** The number of checks, and of the loop's signs of life, in `hangMs`. */
const looksPerHang = 15;
/** The heap that the thread needs to report a hang to AWS. Until then it uses a tenth of this. */
const heapMbMax = 64;
const youngHeapMbMax = 8;

export type WatchdogOptions = {
  readonly log: Log;
  readonly line: WatchOrder['line'];
  /**
   * Where to record a hang: `file` receives the name, or `rememberHang` of `module` is called with it. If absent, the
   * hang is only logged.
   */
  readonly remember?: Pick<WatchOrder, 'file' | 'module' | 'config'>;
  /** Defaults to 15 s. */
  readonly hangMs?: number;
};

export type Watchdog = {
  readonly attribution: Attribution;
  /** Call when the loop begins a piece of work that is not attributed: it makes progress. */
  begins(): void;
  /** The process ends within 4.9 s of this call. */
  stopping(): void;
};

export function startWatchdog({ log, line, remember, hangMs = hangMsDefault }: WatchdogOptions): Watchdog {
  const lookMs = hangMs / looksPerHang;
  const shared = sharedCells();
  const { cells, names } = shared;
  const order: WatchOrder = {
    ...{ cells, names, at: cell, rowBytes, lengthBytes, line, nameParts: hungProbeParts, rememberMs, stopMs },
    ...{ hangMs, lookMs },
    ...remember,
  };
  const turning = setInterval(() => Atomics.add(cells, cell.turns, 1), lookMs);
  turning.unref();
  const thread = new Worker(watchScript, {
    eval: true,
    name: 'watchdog',
    workerData: order,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax, maxYoungGenerationSizeMb: youngHeapMbMax },
  });
  thread.unref();
  thread.on('error', (cause) =>
    log.error('the watchdog has failed: a hang of the event loop goes unnoticed', { cause }),
  );
  return {
    attribution: sharedAttribution(shared),
    begins: () => void Atomics.add(cells, cell.entries, 1),
    stopping: () => Atomics.store(cells, cell.stopping, 1),
  };
}
