/** status-sync in a process that publishes: it is level-triggered and its writes are conditional, so any number may run it at once. */
import type { Bus } from '../../shared/bus/bus.ts';
import { type InProcessBus, inProcessBus } from '../../shared/bus/in-process.ts';
import { type StatusSyncPorts, syncTarget } from '../../shared/manager/status-sync.ts';

/** Targets whose status is computed at the same time. */
const syncConcurrency = 4;

/** A bus whose events wake status-sync here and then go on to `onward`, if there is one; what that did not take has failed. */
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
    { name: 'status-sync', concurrency: syncConcurrency },
  );
}
