/** An EVENT record as kubelet's `Unhealthy` events are stored. */
import type { EventRecord } from '../../shared/core/spec/records.ts';

/** Of a readiness probe that was refused. */
export const unhealthyEvent = (uid: string, container = 'app'): EventRecord => ({
  id: `00000000000001#${container}#readiness#Unhealthy`,
  uid,
  timeMs: 1,
  kind: 'recorded',
  type: 'Warning',
  reason: 'Unhealthy',
  message: 'Readiness probe failed: refused',
  count: 1,
  attempts: [],
});
