/**
 * A prober error that lasts although the prober is sure of itself: a secret that is not there, a name whose servers fail. No result, no
 * `Unhealthy` and nothing on the bus (difference 4); but whoever looks into the target's story is to find why its probe says nothing.
 */
import type { RecordedEvent } from '../core/probe-report.ts';
import type { EventRecord } from '../core/records.ts';
import type { HeldProbe } from './held.ts';
import { rationed, recordedEvent } from './probe-events.ts';

const reason = 'ProberError';

/** Of the story alone. */
export const isKeptQuiet = (event: EventRecord): boolean => event.reason === reason;

/** One at most in five minutes, with a count. */
export function ownTrouble(probe: HeldProbe, error: string, nowMs: number): readonly EventRecord[] {
  const message = `${probe.probeType} probe could not be made: ${error}`;
  const event: RecordedEvent = { type: 'Warning', reason, message, fieldPath: '' };
  const { tell, count, ration } = rationed(probe.ration, event, nowMs);
  probe.ration = ration;
  return tell ? [recordedEvent({ probe, event, count, attempts: [], nowMs })] : [];
}
