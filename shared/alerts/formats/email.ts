/** A mail of plain text. Its Message-ID is stable, and mails of one batch are one thread. */
import type { Notification } from '../alert-state.ts';
import {
  cutText,
  incidentLines,
  isoInstant,
  type Outlook,
  outlookOf,
  shownNotification,
  titleText,
} from '../notification-text.ts';
import type { MailReceiver } from './receiver.ts';

const subjectCharactersMax = 200;
const textCharactersMax = 50_000;

const marks: { readonly [outlook in Outlook]: string } = { open: '[alert]', partly: '[partly ok]', closed: '[ok]' };

export type Mail = {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly messageId: string;
  readonly references: string;
  readonly date: Date;
};

export function mailOf(given: Notification, { from, to }: Pick<MailReceiver, 'from' | 'to'>): Mail {
  const notification = shownNotification(given);
  const { id, batch, alert, atMs } = notification;
  const domain = from.slice(from.lastIndexOf('@'));
  const title = titleText(notification);
  const about = [`Alert ${alert}, ${isoInstant(atMs)}`, '', ...incidentLines(notification)].join('\n');
  return {
    from,
    to,
    subject: cutText(`${marks[outlookOf(notification)]} ${title}`, subjectCharactersMax),
    text: `${cutText(`${title}\n\n${about}`, textCharactersMax)}\n`,
    messageId: `<${id}${domain}>`,
    references: `<${batch}${domain}>`,
    date: new Date(atMs),
  };
}
