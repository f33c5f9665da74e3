/** The work of a loop that is under way. */
import type { Log } from '../../lib/log.ts';
import { StoreUnavailable } from '../../store/store.ts';

export type Work = ReturnType<typeof trackedWork>;

/**
 * Tracks the work under way. As in kubelet, a panic inside one probe is logged and swallowed, and the worker continues
 * (pkg/kubelet/prober/worker.go).
 */
export function trackedWork(log: Log) {
  /** A number, since a collection of all that is under way would outlive it (see shared/lib/bag.ts). */
  let underWay = 0;
  let done = Promise.withResolvers<void>();
  const end = () => {
    underWay -= 1;
    if (underWay > 0) return;
    done.resolve();
    done = Promise.withResolvers();
  };
  const failed = (cause: unknown) => {
    log[cause instanceof StoreUnavailable ? 'warn' : 'error']('a step of the loop failed', { cause });
    end();
  };
  return {
    track(work: Promise<void>) {
      underWay += 1;
      work.then(end, failed);
    },
    isEmpty: () => underWay === 0,
    async over() {
      while (underWay > 0) await done.promise;
    },
  };
}
