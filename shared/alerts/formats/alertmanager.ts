/** The alerts of a notification for Alertmanager's API v2 (`POST /api/v2/alerts`), one for each incident. */
import type { EndedIncident, Incident, Notification } from '../alert-state.ts';
import { incidentTitle, isoInstant, titleText } from '../notification-text.ts';
import { type AlertRequest, jsonRequest } from './receiver.ts';

/**
 * An alert without an end expires in Alertmanager after its `resolve_timeout`. So an end lies ahead that outlasts
 * reminders; the end of the incident replaces it.
 */
const openMs = 7 * 86_400_000;

export function alertmanagerRequest(notification: Notification, { url }: { readonly url: string }): AlertRequest {
  const { incidents } = notification;
  const alerts =
    incidents.length > 0 ? incidents.map((each) => alertOf(each, notification)) : [overflowOf(notification)];
  return jsonRequest(`${url.endsWith('/') ? url.slice(0, -1) : url}/api/v2/alerts`, alerts);
}

function alertOf(incident: Incident | EndedIncident, { atMs }: Notification): object {
  const { alert, cause, namespace, name, id, message, sinceMs, groupLabels } = incident;
  const ended = 'resolvedMs' in incident ? incident.resolvedMs : atMs + openMs;
  return {
    labels: withoutEmpty({
      ...labelNames(groupLabels),
      alertname: alert,
      cause,
      namespace,
      target: name,
      incident: id,
    }),
    annotations: withoutEmpty({ summary: incidentTitle(incident), description: message }),
    startsAt: isoInstant(sinceMs),
    endsAt: isoInstant(ended),
  };
}

function overflowOf(notification: Notification): object {
  const { alert, batch, atMs, kind } = notification;
  return {
    labels: { alertname: alert, cause: 'Overflow', incident: batch },
    annotations: { summary: titleText(notification) },
    startsAt: isoInstant(atMs),
    endsAt: isoInstant(kind === 'overflowEnded' ? atMs : atMs + openMs),
  };
}

type Labels = { readonly [name: string]: string };

/** Alertmanager refuses empty values of labels. */
const withoutEmpty = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));

/** Prometheus' names have letters, digits and underscores: `app.dev/name` becomes `label_app_dev_name`. */
const labelNames = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [`label_${name.replace(/\W/g, '_')}`, value]));
