/** Whatever a peer or a tenant says, an alert has no line, link, mention or direction of theirs, at any receiver. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerLine } from '../../functions/local/alerts/answer-line.ts';
import { mailOf } from '../../shared/alerts/formats/email.ts';
import { alertRequest } from '../../shared/alerts/formats/formats.ts';
import type { HttpReceiver } from '../../shared/alerts/formats/receiver.ts';
import { assertHarmless, hostileText } from '../support/hostile-text.ts';
import { sampleNotification, startMs } from './alert-world.ts';

const secret = 'T0K3N-of-webhook';
const url = `https://user:pass-of-webhook@receiver.test/hook/${secret}?key=query-of-webhook`;
const withKey = { name: 'r', key: 'k'.repeat(32), url } as const;
/** The compiler misses a kind that is not here. */
const receiverOf: { readonly [kind in HttpReceiver['kind']]: HttpReceiver } = {
  webhook: { kind: 'webhook', name: 'r', url },
  slack: { kind: 'slack', name: 'r', url },
  teams: { kind: 'teams', name: 'r', url },
  discord: { kind: 'discord', name: 'r', url },
  alertmanager: { kind: 'alertmanager', name: 'r', url },
  pagerduty: { kind: 'pagerduty', ...withKey },
  opsgenie: { kind: 'opsgenie', ...withKey },
};
const receivers = Object.values(receiverOf);

const said = `${hostileText} [link](https://evil.test) <https://evil.test> @everyone <@1> www.evil.test **bold**`;
const [sample] = sampleNotification().incidents;
const incidents = [
  sample,
  ...Object.entries(sample ?? {})
    .filter(([, value]) => typeof value === 'string')
    .map(([field]) => ({ ...sample, [field]: said })),
  { ...sample, groupLabels: { [said]: said } },
].flatMap((each) => (each ? [each as NonNullable<typeof sample>] : []));

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => [name, ...textsIn(each)]);
};

for (const incident of incidents)
  for (const receiver of receivers)
    test(`${receiver.kind}: a text of an incident is one line`, () => {
      const { body } = alertRequest(sampleNotification({ incidents: [incident] }), receiver, startMs);
      for (const text of textsIn(JSON.parse(body))) {
        assertHarmless(text, receiver.kind);
        if (receiver.kind === 'discord' || receiver.kind === 'teams')
          if (text.includes('evil')) assert.doesNotMatch(text, /(?<!\\)[[\]<>@*]|(?<!\\):\/\/|(?<!\\)www\./);
        if (receiver.kind === 'slack' && text.includes('evil')) assert.doesNotMatch(text, /\n[^\n]*\n/);
      }
    });

test('mail: a text of an incident is one line', () => {
  for (const incident of incidents) {
    const { subject, text } = mailOf(sampleNotification({ incidents: [incident] }), {
      from: 'a@b.test',
      to: ['c@d.test'],
    });
    assertHarmless(subject + text, 'mail');
    assert.equal(text.split('\n').length, 6);
  }
});

test('no secret of a receiver is shown that it repeats', () => {
  const words = [url, new URL(url).pathname, secret, 'query-of-webhook', 'pass-of-webhook', '?key=query-of-webhook'];
  for (const receiver of receivers)
    for (const word of words)
      assert.doesNotMatch(answerLine(`no hook ${word} here`, receiver), /of-webhook/, receiver.kind);
  for (const receiver of receivers)
    if ('key' in receiver) assert.doesNotMatch(answerLine(`no ${receiver.key}`, receiver), /kkk/);
});

test('no login of a mail server is shown that it repeats, as it is or as SMTP sends it', () => {
  const login = { user: 'ops', password: 'pass-of-mail' };
  const mail = { from: 'a@b.test', to: ['c@d.test'] };
  const receiver = { kind: 'email', name: 'r', host: 'a', port: 587, tls: 'starttls', login, ...mail } as const;
  for (const text of [login.password, `\0${login.user}\0${login.password}`]) {
    const sent = Buffer.from(text).toString('base64');
    assert.doesNotMatch(answerLine(`535 no ${login.password}`, receiver), /pass-of/);
    assert.ok(!answerLine(`535 no ${sent}`, receiver).includes(sent), text);
  }
});
