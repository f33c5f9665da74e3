/**
 * The watchdog: a thread that ends the process when its event loop hangs, which no timer of that loop can. It names the probe that the loop
 * was working for, on the log and for the next start. Whoever supervises the process starts it anew.
 */
import { Worker } from 'node:worker_threads';
import type { Attribution } from '../../shared/lib/attribution.ts';
import type { Log } from '../../shared/lib/log.ts';
import { hungProbeParts } from '../../shared/manager/hung-probe.ts';
import { sharedAttribution } from './attribution.ts';
import { cell, lengthBytes, rowBytes, sharedCells } from './cells.ts';
import { type WatchOrder, watch } from './thread.ts';

/** A loop that has not turned for so long hangs: no slice of work is meant to take more than 5 ms. */
const hangMsDefault = 15_000;
/** A process that was told to end and cannot has been ended by its own timer before (functions/local/main.ts). */
const stopMs = 4_900;
/** A small function on AWS shares its CPU with the loop that hangs. */
const rememberMs = 10_000;
/** The loop shows as often that it turns. */
const looksPerHang = 15;
/** Of the time after which a loop hangs. */
const namedPart = 2 / 3;
/** What the thread needs to tell AWS of a hang; it uses a tenth of it before. */
const heapMbMax = 64;
const youngHeapMbMax = 8;

export type WatchdogOptions = {
  readonly log: Log;
  readonly line: WatchOrder['line'];
  /** Where a hang is remembered: the file gets its name, the module's `rememberHang` is called with it. Absent: on the log alone. */
  readonly remember?: Pick<WatchOrder, 'file' | 'module' | 'config'>;
  /** Absent: 15 s. */
  readonly hangMs?: number;
};

export type Watchdog = {
  readonly attribution: Attribution;
  /** From now on the process is ended within 4.9 s. */
  stopping(): void;
};

export function startWatchdog({ log, line, remember, hangMs = hangMsDefault }: WatchdogOptions): Watchdog {
  const lookMs = hangMs / looksPerHang;
  const shared = sharedCells();
  const { cells, names } = shared;
  const order: WatchOrder = {
    ...{ cells, names, at: cell, rowBytes, lengthBytes, line, nameParts: hungProbeParts, rememberMs, stopMs },
    ...{ hangMs, namedMs: hangMs * namedPart, lookMs },
    ...remember,
  };
  const turning = setInterval(() => Atomics.add(cells, cell.turns, 1), lookMs);
  turning.unref();
  const thread = new Worker(`(${watch})()`, {
    eval: true,
    name: 'watchdog',
    workerData: order,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax, maxYoungGenerationSizeMb: youngHeapMbMax },
  });
  thread.unref();
  thread.on('error', (cause) => log.error('nobody watches the event loop any more', { cause }));
  return {
    attribution: sharedAttribution(shared),
    stopping: () => Atomics.store(cells, cell.stopping, 1),
  };
}
