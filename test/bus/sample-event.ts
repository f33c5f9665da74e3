import type { BusEvent } from '../../shared/bus/events.ts';

/** An event of one target, distinguished by its number. */
export function syncRequested(number: number, name = 'checkout'): BusEvent {
  return {
    detailType: 'Target Sync Requested',
    timeMs: Date.UTC(2026, 0, 1),
    detail: {
      schemaVersion: 1,
      id: `event-${number}`,
      target: { namespace: 'default', name, uid: 'uid-1' },
      reason: 'test',
    },
  };
}
