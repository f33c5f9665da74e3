/** Requests have the shapes that the services document. The schemas beside this file restate their references. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Notification } from '../../shared/alerts/alert-state.ts';
import { mailOf } from '../../shared/alerts/formats/email.ts';
import { alertRequest } from '../../shared/alerts/formats/formats.ts';
import type { HttpReceiver } from '../../shared/alerts/formats/receiver.ts';
import { isWebhookSecret } from '../../shared/alerts/formats/webhook.ts';
import { lastedText, titleText } from '../../shared/alerts/notification-text.ts';
import { retryAfterMs } from '../../shared/lib/retry-after.ts';
import { sampleNotification, startMs } from './alert-world.ts';
import { bodyFaults, formats } from './published-schemas.ts';

const url = 'https://receiver.test/hook';
const key = 'k'.repeat(32);
/** More than any service takes. */
const bytesMax = 1_000_000;

const [sample] = sampleNotification().incidents;
const ended = sample ? [{ ...sample, resolvedMs: startMs + 90_000 }] : [];
const long = '😀<&>"\n'.repeat(3_000);
const many = Array.from({ length: 100 }, () =>
  sampleNotification({}, { name: 'x'.repeat(253), message: long.slice(0, 500) }),
);

const notifications: { readonly [name: string]: Notification } = {
  firing: sampleNotification(),
  reminder: sampleNotification({ kind: 'reminder' }),
  resolved: sampleNotification({ kind: 'resolved', remaining: 0, incidents: ended }),
  partly: sampleNotification({ kind: 'resolved', remaining: 2, incidents: ended }),
  overflow: sampleNotification({ kind: 'overflow', incidents: [], remaining: 0 }),
  overflowEnded: sampleNotification({ kind: 'overflowEnded', incidents: [], remaining: 0 }),
  long: sampleNotification({
    alert: long.slice(0, 63),
    batch: 'b'.repeat(600),
    incidents: many.flatMap(({ incidents }) => incidents),
  }),
  prober: sampleNotification({}, { cause: 'ProberDegraded', namespace: '', name: '00-ff', uid: '', message: '' }),
};

const receivers: readonly HttpReceiver[] = [
  { kind: 'webhook', name: 'r', url },
  { kind: 'slack', name: 'r', url },
  { kind: 'teams', name: 'r', url },
  { kind: 'discord', name: 'r', url },
  { kind: 'pagerduty', name: 'r', key },
  { kind: 'opsgenie', name: 'r', key },
  { kind: 'alertmanager', name: 'r', url: 'http://127.0.0.1:9093/' },
];

describe('a request has the documented shape', () => {
  for (const receiver of receivers)
    for (const [name, notification] of Object.entries(notifications))
      test(`${receiver.kind}: ${name}`, () => {
        const request = alertRequest(notification, receiver, startMs);
        assert.deepEqual(bodyFaults(receiver.kind, request.body), []);
        assert.ok(Buffer.byteLength(request.body) <= bytesMax);
        assert.ok(JSON.parse(JSON.stringify(request.body)).isWellFormed());
        assert.equal(request.headers['content-type'], 'application/json');
      });
});

/** Every text in a value, in its order. */
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

const refused = 'app readiness: dial tcp 10.0.0.1:5432: connect: connection refused';
const unready = 'containers with unready status: [app]';
const [caused] = sampleNotification({}, { message: `${refused}; ${unready}` }).incidents;
const causedEnded = caused ? [{ ...caused, resolvedMs: startMs + 90_000 }] : [];

/** As a viewer of Markdown shows it. */
const withoutEscapes = (text: string): string => text.replaceAll(/\\(.)/g, '$1');

/** The texts of a notification for people, by format. */
function textsOf(notification: Notification): readonly (readonly [kind: string, texts: readonly string[]])[] {
  const mail = mailOf(notification, { from: 'a@b.test', to: ['c@d.test'] });
  return [
    ...receivers.map((receiver) => {
      const { body } = alertRequest(notification, receiver, startMs);
      const texts = textsIn(JSON.parse(body));
      const isMarkdown = receiver.kind === 'teams' || receiver.kind === 'discord';
      return [receiver.kind, isMarkdown ? texts.map(withoutEscapes) : texts] as const;
    }),
    ['email', [mail.subject, mail.text]],
  ];
}

describe('what people read', () => {
  const [firing, resolved, partly] = [
    sampleNotification({}, { message: `${refused}; ${unready}` }),
    sampleNotification({ kind: 'resolved', remaining: 0, incidents: causedEnded }),
    sampleNotification({ kind: 'resolved', remaining: 2, incidents: causedEnded }),
  ];

  for (const [kind, texts] of textsOf(firing))
    test(`${kind} says the cause before what follows from it, and in the first text`, () => {
      const about = texts.filter((text) => text.includes(refused) || text.includes(unready));
      assert.notEqual(about.length, 0);
      for (const text of about) {
        const [cause, effect] = [text.indexOf(refused), text.indexOf(unready)];
        assert.ok(cause >= 0 && (effect < 0 || cause < effect), text);
      }
    });

  // PagerDuty's and Opsgenie's own closing of an alert has no text, or a note.
  for (const [kind, texts] of textsOf(resolved))
    if (kind !== 'pagerduty' && kind !== 'alertmanager')
      test(`${kind} says how long what has ended lasted`, () => {
        assert.ok(
          texts.some((text) => /Resolved after 1m30s: default\/checkout not ready/.test(text)),
          texts.join('\n'),
        );
      });

  for (const [kind, texts] of textsOf(partly))
    test(`${kind} shows no end as a failure`, () => {
      for (const text of texts) assert.doesNotMatch(text, /🔴 Resolved|\[alert\] Resolved|\d left/);
    });

  test('the signs of a partial end are its own', () => {
    const ofKind = (kind: string) =>
      textsOf(partly)
        .find(([name]) => name === kind)?.[1]
        .join('\n') ?? '';
    assert.match(ofKind('slack'), /^🟡 Resolved after 1m30s: default\/checkout not ready; 2 still open \(down\)/);
    assert.match(ofKind('email'), /^\[partly ok\] Resolved after 1m30s/);
    assert.match(ofKind('teams'), /\bWarning\b/);
  });

  test('a reminder says for how long it has lasted', () => {
    const reminder = sampleNotification({ kind: 'reminder', atMs: startMs + 4 * 3_600_000 });
    assert.match(
      titleText(reminder),
      /^Still, after 4h: default\/checkout not ready: app readiness: HTTP probe failed/,
    );
  });

  test('a duration has its two largest units', () => {
    const texts = [0, 400, 45_000, 90_000, 3_600_000, 7_500_000, 273_600_000, 86_400_000 * 40].map(lastedText);
    assert.deepEqual(texts, ['0s', '0s', '45s', '1m30s', '1h', '2h5m', '3d4h', '40d']);
  });
});

test('a body that a service would not accept is found', () => {
  const cut = { text: 'x', blocks: [{ type: 'header', text: { type: 'plain_text', text: 'x'.repeat(151) } }] };
  assert.equal(bodyFaults('slack', JSON.stringify(cut)).length, 1);
  for (const format of formats) assert.notDeepEqual(bodyFaults(format, '{"odd":1}'), [], format);
});

const requestOf = (name: string, receiver: HttpReceiver) =>
  alertRequest(notifications[name] ?? sampleNotification(), receiver, startMs);

test('PagerDuty resolves only when the last incident has ended, by the same key', () => {
  const receiver: HttpReceiver = { kind: 'pagerduty', name: 'r', key };
  const [firing, partly, resolved] = ['firing', 'partly', 'resolved'].map((name) =>
    JSON.parse(requestOf(name, receiver).body),
  );
  assert.deepEqual(
    [firing, partly, resolved].map((each) => each.event_action),
    ['trigger', 'trigger', 'resolve'],
  );
  assert.equal(new Set([firing, partly, resolved].map((each) => each.dedup_key)).size, 1);
});

test('Opsgenie closes by the alias', () => {
  const receiver: HttpReceiver = { kind: 'opsgenie', name: 'r', key };
  const { alias } = JSON.parse(requestOf('firing', receiver).body);
  const { url: closing, headers } = requestOf('resolved', receiver);
  assert.equal(closing, `https://api.opsgenie.com/v2/alerts/${alias}/close?identifierType=alias`);
  assert.equal(headers.authorization, `GenieKey ${key}`);
});

test('Alertmanager gets the end of an incident with the same labels', () => {
  const receiver: HttpReceiver = { kind: 'alertmanager', name: 'r', url: 'http://127.0.0.1:9093/' };
  const [[firing], [resolved]] = ['firing', 'resolved'].map((name) => JSON.parse(requestOf(name, receiver).body)) as [
    [{ labels: object; endsAt: string }],
    [{ labels: object; endsAt: string }],
  ];
  assert.deepEqual(resolved.labels, firing.labels);
  assert.equal(resolved.endsAt, new Date(startMs + 90_000).toISOString());
  assert.ok(Date.parse(firing.endsAt) > startMs + 86_400_000);
  assert.equal(requestOf('firing', receiver).url, 'http://127.0.0.1:9093/api/v2/alerts');
});

test('a webhook is signed as Standard Webhooks says, and its id is that of the notification', () => {
  const bytes = Buffer.alloc(32, 7);
  const secret = `whsec_${bytes.toString('base64')}`;
  const { headers, body } = requestOf('firing', { kind: 'webhook', name: 'r', url, secret });
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', bytes).update(content).digest('base64')}`);
  assert.equal(headers['webhook-id'], sampleNotification().id);
  assert.equal(headers['webhook-timestamp'], `${startMs / 1_000}`);
  assert.equal(requestOf('firing', { kind: 'webhook', name: 'r', url }).headers['webhook-signature'], undefined);
});

test('a webhook secret has whsec_ and 24 to 64 bytes in base64', () => {
  const of = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`;
  assert.deepEqual([of(24), of(64), of(23), of(65), 'whsec_!', of(32).slice(6)].map(isWebhookSecret), [
    ...[true, true, false, false, false, false],
  ]);
});

test('Retry-After is read in seconds or as a date', () => {
  const date = new Date(startMs + 90_000).toUTCString();
  const texts = ['120', date, 'Tue, 01 Jan 2019 00:00:00 GMT', '-1', 'soon', '', undefined];
  assert.deepEqual(
    texts.map((text) => retryAfterMs(text, startMs)),
    [...[120_000, 90_000, 0, undefined, undefined, undefined, undefined]],
  );
});
