/** How many restarts were requested of each container: counted where the requests go onto the bus, since the target keeps only open ones. */
import type { Bus } from '../../shared/bus/bus.ts';
import type { BusEvent } from '../../shared/bus/events.ts';

export type RestartTally = {
  /** The same bus, counted; absent: a bus that takes everything. */
  counted(bus?: Bus): Bus;
  /** Of this container of this target since the process holds it. */
  of(uid: string, container: string): number;
  /** Forgets every other target. */
  keepOnly(uids: ReadonlySet<string>): void;
};

/** Targets that are counted between two scrapes; beyond it the one that was counted first is forgotten. */
const targetsMax = 20_000;

type Counted = { readonly count: number; readonly eventId: string };

export function restartTally(): RestartTally {
  const targets = new Map<string, Map<string, Counted>>();

  /** What is published again, because the bus or the store failed, has the same ID. */
  const add = ({ target, container, id }: BusEvent<'Container Restart Requested'>['detail']) => {
    const containers = targets.get(target.uid) ?? new Map<string, Counted>();
    const known = containers.get(container);
    if (known?.eventId === id) return;
    containers.set(container, { count: (known?.count ?? 0) + 1, eventId: id });
    targets.set(target.uid, containers);
    const [first] = targets.keys();
    if (targets.size > targetsMax && first !== undefined) targets.delete(first);
  };

  return {
    counted: (bus) => ({
      publish(events, options) {
        for (const event of events) if (isRequest(event)) add(event.detail);
        return bus ? bus.publish(events, options) : Promise.resolve({ failed: [] });
      },
    }),
    of: (uid, container) => targets.get(uid)?.get(container)?.count ?? 0,
    keepOnly(uids) {
      for (const uid of targets.keys()) if (!uids.has(uid)) targets.delete(uid);
    },
  };
}

const isRequest = (event: BusEvent): event is BusEvent<'Container Restart Requested'> =>
  event.detailType === 'Container Restart Requested';
