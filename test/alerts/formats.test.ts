/** Requests have the shapes that the services document. The schemas here restate their public references. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import * as z from 'zod';
import type { Notification } from '../../shared/alerts/alert-state.ts';
import { alertRequest } from '../../shared/alerts/formats/formats.ts';
import type { HttpReceiver } from '../../shared/alerts/formats/receiver.ts';
import { isWebhookSecret } from '../../shared/alerts/formats/webhook.ts';
import { retryAfterMs } from '../../shared/alerts/retry-after.ts';
import { sampleNotification, startMs } from './alert-world.ts';

const url = 'https://receiver.test/hook';
const key = 'k'.repeat(32);
const instant = z.iso.datetime();

const plainText = (max: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: z.string().min(1).max(max), emoji: z.boolean() });

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

const trigger = z.strictObject({
  routing_key: z.string().length(32),
  event_action: z.literal('trigger'),
  dedup_key: z.string().min(1).max(255),
  payload: z.strictObject({
    summary: z.string().min(1).max(1_024),
    source: z.string().min(1),
    severity: z.enum(['critical', 'error', 'warning', 'info']),
    timestamp: instant,
    group: z.string(),
    custom_details: z.record(z.string(), z.string()),
  }),
});
const resolve = z.strictObject({
  routing_key: z.string().length(32),
  event_action: z.literal('resolve'),
  dedup_key: z.string().min(1).max(255),
});
const labelSet = z.record(z.string().regex(/^[a-zA-Z_]\w*$/), z.string().min(1));

type Case = { readonly receiver: HttpReceiver; readonly schema: z.ZodType; readonly bytesMax?: number };

const cases: readonly Case[] = [
  {
    receiver: { kind: 'slack', name: 'r', url },
    schema: z.strictObject({
      text: z.string().min(1).max(3_000),
      blocks: z
        .array(
          z.union([
            z.strictObject({ type: z.literal('header'), text: plainText(150) }),
            z.strictObject({ type: z.literal('section'), text: plainText(3_000) }),
          ]),
        )
        .min(1)
        .max(50),
    }),
  },
  {
    receiver: { kind: 'teams', name: 'r', url },
    bytesMax: 28 * 1_024,
    schema: z.strictObject({
      type: z.literal('message'),
      attachments: z.tuple([
        z.strictObject({
          contentType: z.literal('application/vnd.microsoft.card.adaptive'),
          contentUrl: z.null(),
          content: z.strictObject({
            $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
            type: z.literal('AdaptiveCard'),
            version: z.literal('1.4'),
            body: z
              .array(
                z.strictObject({
                  type: z.literal('TextBlock'),
                  text: z.string().min(1),
                  wrap: z.boolean(),
                  weight: z.enum(['Default', 'Lighter', 'Bolder']).optional(),
                  size: z.enum(['Default', 'Small', 'Medium', 'Large', 'ExtraLarge']).optional(),
                  color: z.enum(['Default', 'Good', 'Warning', 'Attention']).optional(),
                }),
              )
              .min(1),
          }),
        }),
      ]),
    }),
  },
  {
    receiver: { kind: 'discord', name: 'r', url },
    schema: z.strictObject({
      embeds: z
        .array(
          z.strictObject({
            title: z.string().min(1).max(256),
            description: z.string().min(1).max(4_096).optional(),
            color: z.int().min(0).max(0xffffff),
            timestamp: instant,
          }),
        )
        .min(1)
        .max(10),
      allowed_mentions: z.strictObject({ parse: z.array(z.string()).length(0) }),
    }),
  },
  { receiver: { kind: 'pagerduty', name: 'r', key }, bytesMax: 512 * 1_024, schema: z.union([trigger, resolve]) },
  {
    receiver: { kind: 'opsgenie', name: 'r', key },
    schema: z.union([
      z.strictObject({
        message: z.string().min(1).max(130),
        alias: z.string().min(1).max(512),
        description: z.string().max(15_000),
        source: z.string().max(100),
        priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']),
      }),
      z.strictObject({ source: z.string().max(100), note: z.string().max(25_000) }),
    ]),
  },
  {
    receiver: { kind: 'alertmanager', name: 'r', url: 'http://127.0.0.1:9093/' },
    schema: z
      .array(z.strictObject({ labels: labelSet, annotations: labelSet, startsAt: instant, endsAt: instant }))
      .min(1),
  },
];

describe('a request has the documented shape', () => {
  for (const { receiver, schema, bytesMax = 1_000_000 } of cases)
    for (const [name, notification] of Object.entries(notifications))
      test(`${receiver.kind}: ${name}`, () => {
        const request = alertRequest(notification, receiver, startMs);
        schema.parse(JSON.parse(request.body));
        assert.ok(Buffer.byteLength(request.body) <= bytesMax);
        assert.ok(JSON.parse(JSON.stringify(request.body)).isWellFormed());
        assert.equal(request.headers['content-type'], 'application/json');
      });
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
