/** What a receiver of alerts answered, as one line that may be shown. */
import type { Receiver } from '../../shared/alerts/formats/receiver.ts';

const shownMax = 200;

/** In ASCII, and without secrets of the receiver that it may repeat. */
export function answerLine(text: string, receiver: Receiver): string {
  const open = secretsOf(receiver).reduce((line, secret) => line.replaceAll(secret, '***'), text);
  return open
    .slice(0, shownMax * 2)
    .replaceAll(/[^\x20-\x7e]/g, ' ')
    .trim()
    .slice(0, shownMax);
}

function secretsOf(receiver: Receiver): readonly string[] {
  switch (receiver.kind) {
    case 'pagerduty':
    case 'opsgenie':
      return [receiver.key];
    case 'webhook':
      return [receiver.url, ...(receiver.secret === undefined ? [] : [receiver.secret])];
    case 'slack':
    case 'teams':
    case 'discord':
    case 'alertmanager':
      return [receiver.url];
    case 'email':
      return receiver.login ? [receiver.login.password] : [];
    case 'exec':
      return [];
  }
}
