/**
 * What `probelet.alert` sends to its topic, for the events that simulated targets publish. The rules of the template
 * are played as EventBridge does: pattern, paths and template of each.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import * as z from 'zod';
import type { AlertProps } from '../../cdk/alert.ts';
import { compilePattern } from '../../shared/bus/pattern.ts';
import type { Json } from '../../shared/lib/json.ts';
import { heldWorld } from '../support/shard-world.ts';
import { constructed, resourcesOf, short, templateOf } from '../support/synthesized.ts';

/** https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html, "Event schema". */
const customNotification = z.strictObject({
  version: z.literal('1.0'),
  source: z.literal('custom'),
  id: z.string().optional(),
  content: z.strictObject({
    textType: z.literal('client-markdown').optional(),
    title: z.string().optional(),
    description: z.string().min(1),
    nextSteps: z.array(z.string()).optional(),
    keywords: z.array(z.string()).optional(),
  }),
  metadata: z
    .strictObject({
      threadId: z.string().optional(),
      summary: z.string().optional(),
      eventType: z.string().optional(),
      relatedResources: z.array(z.string()).optional(),
      additionalContext: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
});
type Sent = z.infer<typeof customNotification>;

function alertOf(props: Partial<AlertProps> = {}) {
  const made = constructed();
  const topic = new Topic(made.stack, 'Topic', { enforceSSL: true });
  made.probelet.alert('Oncall', { topic, ...props });
  const rules = resourcesOf(templateOf(made), 'AWS::Events::Rule').filter(({ id }) => id.includes('Oncall'));
  return rules.map(({ Properties: properties }) => ({
    matches: compilePattern(properties.EventPattern),
    target: properties.Targets[0],
    bus: short(properties.EventBusName),
  }));
}

type Rules = ReturnType<typeof alertOf>;

/** What arrives at the topic, in order. */
const sentBy = (rules: Rules, events: readonly Json[]): readonly Sent[] =>
  events.flatMap((event) =>
    rules
      .filter(({ matches }) => matches(event))
      .map(({ target }) => rendered(target.InputTransformer, { ...placed, ...(event as object) })),
  );

type InputTransformer = { readonly InputPathsMap: { readonly [key: string]: string }; readonly InputTemplate: string };

function rendered({ InputPathsMap: paths, InputTemplate: template }: InputTransformer, event: Json): Sent {
  const text = template.replaceAll(/(.)<([\w-]+)>/g, (_, before: string, key: string) => {
    const value = (paths[key] ?? '').split('.').slice(1).reduce<unknown>(memberOf, event);
    // In place of a value EventBridge writes JSON, within a string the bare text, which a quotation mark would end.
    if (before === ':') return `:${JSON.stringify(value)}`;
    if (typeof value !== 'string' || /["\\\n]/.test(value)) throw new Error(`${key}: ${JSON.stringify(value)}`);
    return before + value;
  });
  return customNotification.parse(JSON.parse(text));
}

const memberOf = (value: unknown, name: string): unknown => (value as { readonly [name: string]: unknown })[name];

const titles = (sent: readonly Sent[]) => sent.map(({ content }) => content.title);

const tcp = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 2 };

/** A target fails and recovers under this name, and after the first verdict the rest is published. */
async function eventsOf(name: string): Promise<readonly Json[]> {
  const { world } = await heldWorld({ [name]: { readinessProbe: tcp, livenessProbe: tcp } }, 5_000);
  world.answer(() => 'failure');
  await world.clock.advance(40_000);
  world.answer(() => 'success');
  await world.clock.advance(10_000);
  return JSON.parse(JSON.stringify(world.published));
}

const degraded = { shard: '00', hashRange: '00-ff', schemaVersion: 1, since: '2026-01-01T12:00:00.000Z' };
const about = { source: 'probelet', time: '2026-01-01T12:00:00Z' };
/** Of the envelope on AWS alone. */
const placed = { account: '111122223333', region: 'eu-west-1' };
const doubt: readonly Json[] = [
  { ...about, 'detail-type': 'Prober Degraded', detail: { ...degraded, id: 'd1', reason: 'NoCanary' } },
  { ...about, 'detail-type': 'Prober Recovered', detail: { ...degraded, id: 'd2' } },
];

describe('an alert', () => {
  test('sends one message for each begin and each end, the same thread for both', async () => {
    const events = [...(await eventsOf('checkout')), ...doubt];
    const requests = events.filter((event) => memberOf(event, 'detail-type') === 'Container Restart Requested');
    assert.ok(requests.length > 1, 'the request is repeated, and yet is one incident');
    const sent = sentBy(alertOf(), events);
    assert.deepEqual(titles(sent).toSorted(), [
      'Resolved: default/checkout not ready (Oncall)',
      'Resolved: default/checkout to be restarted (Oncall)',
      'Resolved: prober degraded for 00-ff (Oncall)',
      'default/checkout not ready (Oncall)',
      'default/checkout to be restarted (Oncall)',
      'prober degraded for 00-ff (Oncall)',
    ]);
    const threads = Map.groupBy(sent, ({ metadata }) => metadata?.threadId);
    assert.deepEqual(
      [...threads.values()].map(({ length }) => length),
      [2, 2, 2],
    );
    assert.equal(new Set(sent.map(({ id }) => id)).size, sent.length);
  });

  test('is for the targets of its match, and an event about the prober for all', async () => {
    const events = [...(await eventsOf('checkout')), ...doubt];
    const of = (match: AlertProps['match']) => sentBy(alertOf({ ...(match && { match }) }), events).length;
    assert.equal(of({ namespaces: ['default'], names: ['other', 'checkout'] }), 6);
    assert.equal(of({ namespaces: ['shop'] }), 2);
    assert.equal(of({ names: ['other'] }), 2);
  });

  test('sends only what it is asked for', async () => {
    const events = await eventsOf('checkout');
    const sent = sentBy(alertOf({ causes: ['NotReady'], sendResolved: false }), events);
    assert.deepEqual(titles(sent), ['default/checkout not ready (Oncall)']);
  });

  test('listens on the bus of probelet, and keeps what the topic does not take', () => {
    const made = constructed();
    const topic = new Topic(made.stack, 'Topic', { enforceSSL: true });
    made.probelet.alert('Oncall', { topic, deadLetterQueue: new Queue(made.stack, 'Lost') });
    const template = templateOf(made);
    const rules = resourcesOf(template, 'AWS::Events::Rule').filter(({ id }) => id.includes('Oncall'));
    assert.equal(rules.length, 6);
    for (const { Properties: properties } of rules) {
      assert.equal(short(properties.EventBusName), '{ProbeletBus}');
      assert.match(short(properties.Targets[0].Arn), /^\{Topic/);
      assert.match(short(properties.Targets[0].DeadLetterConfig.Arn), /^\{Lost/);
    }
    const [policy] = resourcesOf(template, 'AWS::SNS::TopicPolicy');
    assert.match(JSON.stringify(policy?.Properties), /"sns:Publish"[^}]*\}?.*"events\.amazonaws\.com"/);
  });

  const wrongProps: readonly (readonly [props: object, message: RegExp])[] = [
    [{ match: { namespaces: 'shop' } }, /^match\.namespaces: is "shop"; allowed: a list of names$/],
    [{ match: { names: [] } }, /^match\.names: is \[\]; allowed: a list of names$/],
    [
      { causes: ['Unknown'] },
      /^causes: is \["Unknown"\]; allowed: a list of NotReady, RestartRequested, ProberDegraded$/,
    ],
    [{ sendResolved: 'no' }, /^sendResolved: is "no"; allowed: true or false$/],
  ];
  for (const [props, message] of wrongProps)
    test(`refuses ${JSON.stringify(props)}`, () =>
      assert.throws(() => alertOf(props), { name: 'RangeError', message }));
});
