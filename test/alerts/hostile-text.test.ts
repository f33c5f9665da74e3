/** Whatever a peer or a tenant says, an alert has no line, link, mention or direction of theirs, at any receiver. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerLine } from '../../functions/local/answer-line.ts';
import { mailOf } from '../../shared/alerts/formats/email.ts';
import { alertRequest } from '../../shared/alerts/formats/formats.ts';
import type { HttpReceiver } from '../../shared/alerts/formats/receiver.ts';
import { assertHarmless, hostileText } from '../support/hostile-text.ts';
import { sampleNotification, startMs } from './alert-world.ts';

const secret = 'T0K3N-of-webhook';
const url = `https://user:pass-of-webhook@receiver.test/hook/${secret}?key=query-of-webhook`;
const receivers: readonly HttpReceiver[] = [
  ...(['webhook', 'slack', 'teams', 'discord', 'alertmanager'] as const).map((kind) => ({ kind, name: 'r', url })),
  { kind: 'pagerduty', name: 'r', key: 'k'.repeat(32) },
  { kind: 'opsgenie', name: 'r', key: 'k'.repeat(32) },
];

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

test('no secret part of an address is shown that a receiver repeats', () => {
  for (const receiver of receivers)
    if (receiver.kind !== 'pagerduty' && receiver.kind !== 'opsgenie')
      for (const word of [
        url,
        new URL(url).pathname,
        secret,
        'query-of-webhook',
        'pass-of-webhook',
        '?key=query-of-webhook',
      ])
        assert.doesNotMatch(answerLine(`no hook ${word} here`, receiver), /of-webhook/, receiver.kind);
});
