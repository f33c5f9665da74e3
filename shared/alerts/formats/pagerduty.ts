/** An event of PagerDuty's Events API v2. All events of a batch have one `dedup_key`, so they are one alert there. */
import { isClosing, type Notification } from '../alert-state.ts';
import { cutText, incidentLines, isoInstant, subjectText, titleText } from '../notification-text.ts';
import { type AlertRequest, jsonRequest } from './receiver.ts';

const enqueueUrl = 'https://events.pagerduty.com/v2/enqueue';
/** PagerDuty's limits. The event as a whole may have 512 KB. */
export const pagerdutySummaryMax = 1_024;
export const pagerdutyKeyMax = 255;
const linesCharactersMax = 50_000;

export type PagerdutyReceiver = { readonly url?: string; readonly key: string };

export function pagerdutyRequest(notification: Notification, receiver: PagerdutyReceiver): AlertRequest {
  const { url = enqueueUrl, key } = receiver;
  const { alert, atMs, batch, incidents } = notification;
  const event = { routing_key: key, dedup_key: cutText(batch, pagerdutyKeyMax) };
  if (isClosing(notification)) return jsonRequest(url, { ...event, event_action: 'resolve' });
  const [first] = incidents;
  const payload = {
    summary: cutText(titleText(notification), pagerdutySummaryMax),
    source: first ? subjectText(first) : 'probelet',
    severity: 'error',
    timestamp: isoInstant(atMs),
    group: alert,
    custom_details: { incidents: cutText(incidentLines(notification).join('\n'), linesCharactersMax) },
  };
  return jsonRequest(url, { ...event, event_action: 'trigger', payload });
}
