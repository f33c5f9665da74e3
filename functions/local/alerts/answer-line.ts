/** What a receiver of alerts answered, as one line that may be shown. */
import type { MailReceiver, Receiver } from '../../../shared/alerts/formats/receiver.ts';

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
      return [receiver.key, ...(receiver.url === undefined ? [] : urlSecrets(receiver.url))];
    case 'webhook':
      return [...urlSecrets(receiver.url), ...(receiver.secret === undefined ? [] : [receiver.secret])];
    case 'slack':
    case 'teams':
    case 'discord':
    case 'alertmanager':
      return urlSecrets(receiver.url);
    case 'email':
      return receiver.login ? loginSecrets(receiver.login) : [];
    case 'exec':
      return [];
  }
}

/** As SMTP sends them, too (RFC 4616 and AUTH LOGIN). */
function loginSecrets({ user, password }: NonNullable<MailReceiver['login']>): readonly string[] {
  const sent = [`\0${user}\0${password}`, password].map((text) => Buffer.from(text).toString('base64'));
  return [...sent, password];
}

/** Shorter words of a path, such as `hooks`, are no secrets. */
const secretCharactersMin = 8;

/** Parts of the address of a webhook, the longest first: its path or query may be the only secret. */
function urlSecrets(text: string): readonly string[] {
  const url = URL.parse(text);
  if (!url) return [text];
  const { href, pathname, search, searchParams, username, password } = url;
  const words = [...pathname.split('/'), ...searchParams.values(), username, password];
  const parts = [...words, ...words.map(decoded)].filter(({ length }) => length >= secretCharactersMin);
  return [text, href, `${pathname}${search}`, pathname, search, ...parts]
    .filter((part) => part.length >= secretCharactersMin)
    .toSorted((a, b) => b.length - a.length);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
