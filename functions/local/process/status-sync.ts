/**
 * status-sync within a process that publishes events. It is level-triggered and its writes are conditional, so any
 * number of instances may run at once.
 */
import type { Bus, EventEnvelope } from '../../../shared/bus/bus.ts';
import { type InProcessBus, inProcessBus } from '../../../shared/bus/in-process.ts';
import { type StatusSyncPorts, syncTarget } from '../../../shared/status-sync/sync.ts';

/** How many targets are computed at the same time. */
const syncConcurrency = 4;

/**
 * Returns a bus whose events trigger status-sync here and then go on to `onward`, if given. Events that `onward` does
 * not accept have failed.
 */
export function syncedBus(ports: Omit<StatusSyncPorts, 'bus'>, onward?: Bus): Bus & Pick<InProcessBus, 'settled'> {
  const here = inProcessBus(ports);
  const bus: Bus = {
    async publish(events) {
      await here.publish(events);
      return onward ? onward.publish(events) : { failed: [] };
    },
  };
  subscribeStatusSync(here, { ...ports, bus });
  return { ...bus, settled: here.settled };
}

export function subscribeStatusSync(subscribable: Pick<InProcessBus, 'subscribe'>, ports: StatusSyncPorts): void {
  subscribable.subscribe(
    { source: ['probelet'], 'detail-type': ['Probe Result Changed', 'Target Sync Requested'] },
    async ({ detail }) => {
      if ('target' in detail) await syncTarget(ports, detail.target);
    },
    { name: 'status-sync', concurrency: syncConcurrency, keyOf: syncedTarget },
  );
}

/** A sync reads all of its target, so one that waits sees what any event before it is about. */
function syncedTarget({ detail }: EventEnvelope): string | undefined {
  return 'target' in detail ? `${detail.target.namespace}/${detail.target.name}` : undefined;
}
