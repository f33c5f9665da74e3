/**
 * What a caller does when the table has no capacity left (`StoreThrottled`). The call was certainly not executed, so it
 * can be repeated as it is. What matters is that all callers together ask for less than before: each waits for a time
 * that doubles, with jitter.
 */
import { type Clock, sleep } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { type Store, StoreThrottled } from './store.ts';

const pauseFirstMs = 50;
const pauseMsMax = 2_000;

/** Between half of a bound and the bound, which doubles with each of the throttles in a row (1, 2, …). */
export const throttledPauseMs = (throttles: number, random: Random, longestMs = pauseMsMax): number =>
  Math.min(longestMs, pauseFirstMs * 2 ** (throttles - 1)) * (0.5 + 0.5 * random.next());

/** `longestMs`: of a pause, for few and small calls that have to go before others; absent: as long as for all. */
type PausePorts = { readonly clock: Clock; readonly random: Random; readonly longestMs?: number };

/**
 * Repeats `call` while it is throttled and `goesOn` holds.
 * @throws whatever `call` throws; StoreThrottled when it is still throttled and `goesOn` holds no longer.
 */
export async function whileThrottled<Value>(
  { clock, random, longestMs }: PausePorts,
  call: () => Promise<Value>,
  goesOn: () => boolean,
): Promise<Value> {
  for (let throttles = 1; ; throttles += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreThrottled) || !goesOn()) throw error;
    }
    await sleep(clock, throttledPauseMs(throttles, random, longestMs));
  }
}

/** Longer than a short peak, shorter than the time after which a caller of the API gives up. */
export const patienceMs = 5_000;

/** A store whose calls are repeated for up to `patienceMs` while they are throttled. */
export function patientStore(store: Store, ports: PausePorts): Store {
  const { clock } = ports;
  const patiently = <Value>(call: () => Promise<Value>): Promise<Value> => {
    const untilMs = clock.monotonicMs() + patienceMs;
    return whileThrottled(ports, call, () => clock.monotonicMs() < untilMs);
  };
  return {
    get: (key, options) => patiently(() => store.get(key, options)),
    query: (query) => patiently(() => store.query(query)),
    write: (operations, options) => patiently(() => store.write(operations, options)),
  };
}
