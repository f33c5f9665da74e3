/** The work of a loop that is under way. */
import type { Log } from '../../lib/log.ts';
import { StoreUnavailable } from '../../store/store.ts';

export type Work = ReturnType<typeof trackedWork>;

/**
 * Tracks the work under way. As in kubelet, a panic inside one probe is logged and swallowed, and the worker continues
 * (pkg/kubelet/prober/worker.go).
 */
export function trackedWork(log: Log) {
  const working = new Set<Promise<void>>();
  return {
    track(work: Promise<void>) {
      const tracked = work
        .catch((cause: unknown) =>
          log[cause instanceof StoreUnavailable ? 'warn' : 'error']('a step of the loop failed', { cause }),
        )
        .finally(() => working.delete(tracked));
      working.add(tracked);
    },
    isEmpty: () => working.size === 0,
    async over() {
      while (working.size > 0) await Promise.all(working);
    },
  };
}
