/** The event of a requested probe: it shows what the probe found even if no result changes. Pure. */
import type { EventRecord } from '../../core/spec/records.ts';
import { eventId, type Recording } from './events.ts';
import type { Report } from './step-plan.ts';

const askedReason = 'Probed';

/** In the event history alone: on the bus are changes and kubelet's events. */
export const isAskedEvent = ({ reason }: EventRecord): boolean => reason === askedReason;

/** Its result is that of the probe; absent: it could not be made. */
export function askedEvent(
  { name, probeType, verdict: { record, worker } }: Recording,
  { conclusion, attempts }: Report,
  nowMs: number,
): EventRecord {
  const found = conclusion.kind === 'result' ? conclusion.result : `could not be made: ${conclusion.error}`;
  return {
    id: eventId(nowMs, `${name}#${askedReason}`),
    uid: record.uid,
    timeMs: nowMs,
    kind: 'recorded',
    type: found === 'success' ? 'Normal' : 'Warning',
    reason: askedReason,
    message: `${probeType} of ${record.container}, on request: ${found}`,
    container: record.container,
    probeType,
    containerID: worker.containerID,
    ...(conclusion.kind === 'result' && { result: conclusion.result }),
    count: 1,
    attempts,
  };
}
