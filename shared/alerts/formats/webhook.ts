/**
 * A signed webhook. Source: the Standard Webhooks specification, version 1: the signature covers id, timestamp and
 * body, joined by full stops.
 */
import { createHmac } from 'node:crypto';
import { isClosing, type Notification } from '../alert-state.ts';
import { isoInstant, titleText } from '../notification-text.ts';
import { type AlertRequest, jsonRequest } from './receiver.ts';

const signingSecretPrefix = 'whsec_';

/** Returns whether the text is a secret as the specification writes it: `whsec_` and 24 to 64 bytes in base64. */
export function isWebhookSecret(text: string): boolean {
  if (!text.startsWith(signingSecretPrefix)) return false;
  const encoded = text.slice(signingSecretPrefix.length);
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length >= secretBytesMin && bytes.length <= secretBytesMax && bytes.toString('base64') === encoded;
}

const secretBytesMin = 24;
const secretBytesMax = 64;

export type WebhookReceiver = { readonly url: string; readonly secret?: string };

/** What a webhook has in its body, and a command on its standard input. */
export function notificationJson(notification: Notification): object {
  const { id, kind, batch, alert, atMs, incidents, remaining } = notification;
  const data = {
    id,
    kind,
    batch,
    alert,
    title: titleText(notification),
    closed: isClosing(notification),
    remaining,
    incidents: incidents.map((incident) => ({
      id: incident.id,
      cause: incident.cause,
      namespace: incident.namespace,
      name: incident.name,
      uid: incident.uid,
      since: isoInstant(incident.sinceMs),
      ...('resolvedMs' in incident && { resolved: isoInstant(incident.resolvedMs) }),
      message: incident.message,
      labels: incident.groupLabels,
    })),
  };
  return { type: `probelet.alert.${kind}`, timestamp: isoInstant(atMs), data };
}

/** `nowMs` is the time of this attempt, which receivers compare with their clock. */
export function webhookRequest(notification: Notification, receiver: WebhookReceiver, nowMs: number): AlertRequest {
  const { id } = notification;
  const request = jsonRequest(receiver.url, notificationJson(notification));
  const timestamp = `${Math.floor(nowMs / 1_000)}`;
  const { secret } = receiver;
  const signature = secret !== undefined && {
    'webhook-signature': signatureOf(secret, `${id}.${timestamp}.${request.body}`),
  };
  return {
    ...request,
    headers: { ...request.headers, 'webhook-id': id, 'webhook-timestamp': timestamp, ...signature },
  };
}

function signatureOf(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(signingSecretPrefix.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
