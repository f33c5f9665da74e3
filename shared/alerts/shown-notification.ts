/** Peers and tenants choose texts of a notification. For a receiver they have one line, and no markup of their own. */
import { visibleLine } from '../lib/visible-text.ts';
import type { EndedIncident, Incident, Notification } from './alert-state.ts';

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
