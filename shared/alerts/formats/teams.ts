/** An Adaptive Card in the message that a Teams workflow ("when a webhook request is received") takes. */
import type { Notification } from '../alert-state.ts';
import { cutText, incidentLines, inMarkdown, type Outlook, outlookOf, titleText } from '../notification-text.ts';
import { type AlertRequest, jsonRequest } from './receiver.ts';

/** Teams refuses messages above 28 KB. A character has at most three bytes in UTF-8, and escaped at most six. */
const linesCharactersMax = 4_000;
const titleCharactersMax = 300;

const colors: { readonly [outlook in Outlook]: string } = { open: 'Attention', partly: 'Warning', closed: 'Good' };

export function teamsRequest(notification: Notification, { url }: { readonly url: string }): AlertRequest {
  const color = colors[outlookOf(notification)];
  const title = cutText(inMarkdown(titleText(notification)), titleCharactersMax);
  // Two line breaks make a new line in the card's Markdown.
  const lines = cutText(incidentLines(notification).map(inMarkdown).join('\n\n'), linesCharactersMax);
  const block = (text: string, style: object) => ({ type: 'TextBlock', text, wrap: true, ...style });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [block(title, { weight: 'Bolder', size: 'Medium', color }), ...(lines === '' ? [] : [block(lines, {})])],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return jsonRequest(url, { type: 'message', attachments: [{ contentType, contentUrl: null, content }] });
}
