/** A message of Slack's incoming webhooks, in Block Kit. Its limits are those of the reference of blocks. */
import type { Notification } from '../alert-state.ts';
import { cutText, incidentLines, signedTitle } from '../notification-text.ts';
import { type AlertRequest, jsonRequest } from './receiver.ts';

/** Characters of a header. */
export const slackHeaderMax = 150;
/** Characters of the text of a section, and of the text that notifications show. */
export const slackTextMax = 3_000;

/** The blocks are plain text, so nothing in a message is read as a mention or a link. */
export function slackRequest(notification: Notification, { url }: { readonly url: string }): AlertRequest {
  const title = signedTitle(notification);
  const lines = incidentLines(notification);
  const plain = (text: string, max: number) => ({ type: 'plain_text', text: cutText(text, max), emoji: false });
  return jsonRequest(url, {
    text: cutText(escaped(title), slackTextMax),
    blocks: [
      { type: 'header', text: plain(title, slackHeaderMax) },
      ...(lines.length > 0 ? [{ type: 'section', text: plain(lines.join('\n'), slackTextMax) }] : []),
    ],
  });
}

/** The text beside the blocks has Slack's own markup. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
