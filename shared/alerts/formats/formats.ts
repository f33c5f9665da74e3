/** The format of each kind of receiver over HTTP. */
import type { Notification } from '../alert-state.ts';
import { shownNotification } from '../notification-text.ts';
import { alertmanagerRequest } from './alertmanager.ts';
import { discordRequest } from './discord.ts';
import { opsgenieRequest } from './opsgenie.ts';
import { pagerdutyRequest } from './pagerduty.ts';
import type { AlertRequest, HttpReceiver } from './receiver.ts';
import { slackRequest } from './slack.ts';
import { teamsRequest } from './teams.ts';
import { webhookRequest } from './webhook.ts';

/** Returns the request that reports the notification to the receiver. `nowMs` is the time of this attempt. */
export function alertRequest(given: Notification, receiver: HttpReceiver, nowMs: number): AlertRequest {
  const notification = shownNotification(given);
  switch (receiver.kind) {
    case 'webhook':
      return webhookRequest(notification, receiver, nowMs);
    case 'slack':
      return slackRequest(notification, receiver);
    case 'teams':
      return teamsRequest(notification, receiver);
    case 'discord':
      return discordRequest(notification, receiver);
    case 'alertmanager':
      return alertmanagerRequest(notification, receiver);
    case 'pagerduty':
      return pagerdutyRequest(notification, receiver);
    case 'opsgenie':
      return opsgenieRequest(notification, receiver);
  }
}
