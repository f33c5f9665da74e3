/**
 * Counts the restart requests of each container. It counts them on their way to the bus, because the target stores only
 * open ones.
 */
import type { Bus } from '../../../shared/bus/bus.ts';
import type { BusEvent } from '../../../shared/bus/events.ts';

export type RestartTally = {
  /** Wraps a bus with the count. Without a bus, all events are accepted and dropped. */
  counted(bus?: Bus): Bus;
  /** Returns the count for a container since the process holds its target. */
  of(uid: string, container: string): number;
  /** Drops the counts of all other targets. */
  keepOnly(uids: ReadonlySet<string>): void;
};

/** The largest number of targets between two scrapes. Beyond it, the oldest is dropped. */
const targetsMax = 20_000;

type Counted = { readonly count: number; readonly eventId: string };

export function restartTally(): RestartTally {
  const targets = new Map<string, Map<string, Counted>>();

  /** Counts a repeated publication once: an event that is published again after a failure has the same id. */
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
