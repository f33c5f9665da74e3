/** What a notification says, in words. Formats cut it to the limits of their services. */
import { type EndedIncident, type Incident, isClosing, type Notification } from './alert-state.ts';

/** Returns one line that says what has happened. */
export function titleText(notification: Notification): string {
  const { kind, incidents, alert } = notification;
  switch (kind) {
    case 'overflow':
      return 'Too many open incidents: further ones are not reported until some have ended';
    case 'overflowEnded':
      return 'Resolved: all open incidents are reported again';
    case 'firing':
      return `${problemText(incidents)} (${alert})`;
    case 'reminder':
      return `Still: ${problemText(incidents)} (${alert})`;
    case 'resolved': {
      const rest = isClosing(notification) ? '' : `, ${notification.remaining} left`;
      return `Resolved: ${problemText(incidents)}${rest} (${alert})`;
    }
  }
}

/** Names what the incident is about. */
export const subjectText = ({ cause, namespace, name }: Incident): string =>
  cause === 'ProberDegraded' ? `prober ${name}` : `${namespace}/${name}`;

function problemText(incidents: Notification['incidents']): string {
  const [first] = incidents;
  if (!first) return 'no problem';
  if (incidents.length > 1) return `${incidents.length} problems${first.namespace && ` in ${first.namespace}`}`;
  switch (first.cause) {
    case 'NotReady':
      return `${first.namespace}/${first.name} not ready`;
    case 'RestartRequested':
      return `${first.namespace}/${first.name} to be restarted`;
    case 'ProberDegraded':
      return `prober degraded for ${first.name}`;
  }
}

/** Returns one line for each incident. */
export const incidentLines = ({ incidents }: Notification): readonly string[] => incidents.map(incidentLine);

function incidentLine(incident: Incident | EndedIncident): string {
  const { cause, message, sinceMs } = incident;
  const until = 'resolvedMs' in incident ? ` until ${isoInstant(incident.resolvedMs)}` : '';
  return `${subjectText(incident)}: ${message || cause} (since ${isoInstant(sinceMs)}${until})`;
}

/** Formats an instant as RFC 3339. */
export const isoInstant = (ms: number): string => new Date(ms).toISOString();

const ellipsis = '…';

/** Returns the text with at most `max` UTF-16 units, without half of a character at its end. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max - ellipsis.length);
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}${ellipsis}`;
}
