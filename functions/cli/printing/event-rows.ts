/** Events as rows of a table. */
import type { EventView } from '../../../shared/api/routes/events.ts';
import { sinceText } from './durations.ts';
import type { Row } from './tables.ts';

/** An event does not name its target. */
export type TargetEvent = { readonly namespace: string; readonly target: string; readonly event: EventView };

export const eventHead = (hasNamespace: boolean): Row => [
  ...(hasNamespace ? ['NAMESPACE'] : []),
  ...['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'],
];

/** As `kubectl get events` prints it. */
export const eventRow = ({ namespace, target, event }: TargetEvent, hasNamespace: boolean, nowMs: number): Row => [
  ...(hasNamespace ? [namespace] : []),
  `${sinceText(event.time, nowMs)}${event.count > 1 ? ` (x${event.count})` : ''}`,
  { text: event.type, shade: event.type === 'Warning' ? 'bad' : 'good' },
  event.reason,
  `target/${target}`,
  messageOf(event),
];

/** kubelet's text ends with what a command has printed, which may be nothing. */
const messageOf = ({ message }: EventView): string =>
  message.endsWith('probe failed: ') ? `${message}(no output)` : message;
