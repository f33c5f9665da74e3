/** A request of Opsgenie's Alert API v2. The alias is the batch, so repeated requests change one alert. */
import { isClosing, type Notification } from '../alert-state.ts';
import { cutText, incidentLines, titleText } from '../notification-text.ts';
import { type AlertRequest, jsonRequest } from './receiver.ts';

const alertsUrl = 'https://api.opsgenie.com/v2/alerts';
/** Opsgenie's limits. */
export const opsgenieMessageMax = 130;
export const opsgenieAliasMax = 512;
export const opsgenieDescriptionMax = 15_000;

export type OpsgenieReceiver = { readonly url?: string; readonly key: string };

export function opsgenieRequest(notification: Notification, receiver: OpsgenieReceiver): AlertRequest {
  const { url = alertsUrl, key } = receiver;
  const headers = { authorization: `GenieKey ${key}` };
  const alias = cutText(notification.batch, opsgenieAliasMax);
  const source = 'probelet';
  const note = titleText(notification);
  if (isClosing(notification))
    return jsonRequest(`${url}/${encodeURIComponent(alias)}/close?identifierType=alias`, { source, note }, headers);
  const message = cutText(note, opsgenieMessageMax);
  const description = cutText([note, ...incidentLines(notification)].join('\n'), opsgenieDescriptionMax);
  return jsonRequest(url, { message, alias, description, source, priority: 'P2' }, headers);
}
