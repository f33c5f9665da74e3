/** A message of Discord's webhooks with one embed. */
import type { Notification } from '../alert-state.ts';
import {
  cutText,
  incidentLines,
  inMarkdown,
  isoInstant,
  type Outlook,
  outlookOf,
  titleText,
} from '../notification-text.ts';
import { type AlertRequest, jsonRequest } from './receiver.ts';

/** Discord's limits of an embed. Together they stay below 6,000. */
export const discordTitleMax = 256;
export const discordDescriptionMax = 4_096;

/** Red, amber and green. */
const colors: { readonly [outlook in Outlook]: number } = { open: 0xd03030, partly: 0xd0a030, closed: 0x30a030 };

/** Mentions in a message notify no one. */
export function discordRequest(notification: Notification, { url }: { readonly url: string }): AlertRequest {
  const description = cutText(incidentLines(notification).map(inMarkdown).join('\n'), discordDescriptionMax);
  const embed = {
    title: cutText(inMarkdown(titleText(notification)), discordTitleMax),
    ...(description !== '' && { description }),
    color: colors[outlookOf(notification)],
    timestamp: isoInstant(notification.atMs),
  };
  return jsonRequest(url, { embeds: [embed], allowed_mentions: { parse: [] } });
}
