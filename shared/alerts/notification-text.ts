/** What a notification says, in words. Formats cut it to the limits of their services. */

import { visibleLine } from '../lib/visible-text.ts';
import { type EndedIncident, type Incident, isClosing, type Notification } from './alert-state.ts';

/** Returns one line that says what has happened. */
export function titleText(notification: Notification): string {
  const { kind, incidents, alert, remaining, atMs } = notification;
  switch (kind) {
    case 'overflow':
      return 'Too many open incidents: further ones are not reported until some have ended';
    case 'overflowEnded':
      return 'Resolved: all open incidents are reported again';
    case 'firing':
      return `${problemText(incidents)}${causeText(incidents)} (${alert})`;
    case 'reminder':
      return `Still, after ${longestText(incidents, atMs)}: ${problemText(incidents)}${causeText(incidents)} (${alert})`;
    case 'resolved': {
      const rest = isClosing(notification) ? '' : `; ${remaining} still open`;
      return `Resolved after ${longestText(incidents, atMs)}: ${problemText(incidents)}${rest} (${alert})`;
    }
  }
}

/** How things stand after a notification: part of its batch may have ended. */
export type Outlook = 'open' | 'partly' | 'closed';

export function outlookOf(notification: Notification): Outlook {
  if (isClosing(notification)) return 'closed';
  return notification.kind === 'resolved' ? 'partly' : 'open';
}

/** Returns the title behind a sign that is seen at a glance. */
export const signedTitle = (notification: Notification): string =>
  `${signs[outlookOf(notification)]} ${titleText(notification)}`;

const signs: { readonly [outlook in Outlook]: string } = { open: '🔴', partly: '🟡', closed: '✅' };

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

/** Characters of the cause in a title. The lines have all of it. */
const causeCharactersMax = 120;

/** The text about a single incident. Its message has the cause first. */
function causeText(incidents: Notification['incidents']): string {
  const [cause = ''] = incidents.length === 1 ? (incidents[0]?.message.split('; ') ?? []) : [];
  return cause === '' ? '' : `: ${cutText(cause, causeCharactersMax)}`;
}

/** How long the first of them lasts, or has lasted. */
function longestText(incidents: Notification['incidents'], atMs: number): string {
  const lasted = incidents.map((each) => ('resolvedMs' in each ? each.resolvedMs : atMs) - each.sinceMs);
  return lastedText(Math.max(0, ...lasted));
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** The two largest units that a duration has: `45s`, `1m30s`, `3d4h`. */
export function lastedText(ms: number): string {
  let seconds = Math.round(ms / 1_000);
  const largest = units.findIndex(([, unit]) => seconds >= unit);
  const parts = units.slice(largest, largest + 2).map(([name, unit]) => {
    const count = Math.floor(seconds / unit);
    seconds -= count * unit;
    return count === 0 ? '' : `${count}${name}`;
  });
  return largest < 0 ? '0s' : parts.join('');
}

/** Returns the problem of one incident, and its cause. */
export const incidentTitle = (incident: Incident | EndedIncident): string =>
  `${problemText([incident])}${causeText([incident])}`;

/** Returns one line for each incident. */
export const incidentLines = ({ incidents }: Notification): readonly string[] => incidents.map(incidentLine);

function incidentLine(incident: Incident | EndedIncident): string {
  const { cause, message, sinceMs } = incident;
  const since = isoInstant(sinceMs);
  const when =
    'resolvedMs' in incident
      ? `lasted ${lastedText(incident.resolvedMs - sinceMs)}, from ${since} to ${isoInstant(incident.resolvedMs)}`
      : `since ${since}`;
  return `${subjectText(incident)}: ${message || cause} (${when})`;
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

// Peers and tenants choose texts of a notification. A receiver gets each in one line, without markup of its own.

/** With every text of an incident in one line, without what changes the direction of a text or acts on a terminal. */
export const shownNotification = (notification: Notification): Notification => ({
  ...notification,
  alert: visibleLine(notification.alert),
  incidents: notification.incidents.map(shownIncident),
});

function shownIncident<Each extends Incident | EndedIncident>(incident: Each): Each {
  const texts = Object.entries(incident).map(([field, value]) => [field, shownValue(value)]);
  const labels = Object.entries(incident.groupLabels).map(([label, value]) => [visibleLine(label), visibleLine(value)]);
  return { ...incident, ...Object.fromEntries(texts), groupLabels: Object.fromEntries(labels) };
}

const shownValue = (value: unknown): unknown => (typeof value === 'string' ? visibleLine(value) : value);

/** With a backslash before each sign, Markdown shows it, and `https://…` or `@name` is neither a link nor a mention. */
export const inMarkdown = (text: string): string =>
  text.replaceAll(/[\\`*_~|<>[\](){}#@!]|:(?=\/\/)|www(?=\.)/gi, '\\$&');

const lastsMs = 60_000;

/**
 * Notifications that try a receiver: a made-up incident, and its end.
 * @param id distinguishes this try from others
 */
export function testNotifications(receiver: string, id: string, nowMs: number): readonly [Notification, Notification] {
  const sinceMs = nowMs - lastsMs;
  const incident: Incident = {
    id,
    alert: 'test',
    cause: 'NotReady',
    namespace: 'test',
    name: 'test',
    uid: id,
    sinceMs,
    message: 'This is a test of probelet: nothing is wrong.',
    groupLabels: {},
    receivers: [receiver],
    batch: id,
  };
  const about = { batch: id, alert: 'test', receivers: [receiver], atMs: nowMs };
  return [
    { id: `${id}-firing-1`, kind: 'firing', ...about, incidents: [incident], remaining: 1 },
    {
      ...{ id: `${id}-resolved-2`, kind: 'resolved', ...about },
      ...{ incidents: [{ ...incident, resolvedMs: nowMs }], remaining: 0 },
    },
  ];
}
