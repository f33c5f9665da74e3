/**
 * The file of alerts: which targets they are about, when they are sent, and where to. One zod schema gives the types,
 * the errors and the published JSON Schema.
 */
import * as z from 'zod';
import { parseLabelSelector } from '../api/label-selector.ts';
import { compilePattern, InvalidPattern } from '../bus/pattern.ts';
import { durationSeconds } from '../manifest/duration.ts';

/** Limits of one file. */
export const alertsMax = 200;
export const receiversMax = 100;
const silencesMax = 1_000;
const namesMax = 100;
const nameCharactersMax = 63;
/** Longer than any wait that a person means. */
const durationMsMax = 30 * 86_400_000;
/** A shorter interval floods the receiver. */
const remindMsMin = 10_000;

const name = z.string().min(1).max(nameCharactersMax);
const names = z.array(name).max(namesMax);

const duration = z.string().superRefine((text, context) => {
  const seconds = durationSeconds(text);
  if (seconds !== undefined && seconds * 1_000 <= durationMsMax) return;
  context.addIssue({ code: 'custom', message: 'must be a duration of at most 720h, such as 30s, 5m or 1h30m' });
});

const remind = duration.superRefine((text, context) => {
  const seconds = durationSeconds(text);
  if (seconds === undefined || seconds * 1_000 >= remindMsMin) return;
  context.addIssue({ code: 'custom', message: `must be at least ${remindMsMin / 1_000}s` });
});

const selector = z.string().superRefine((text, context) => {
  const parsed = parseLabelSelector(text);
  if (parsed.kind === 'invalid')
    context.addIssue({ code: 'custom', message: `is no label selector: ${parsed.reason}` });
});

const pattern = z.record(z.string(), z.json()).superRefine((value, context) => {
  try {
    compilePattern(value);
  } catch (error) {
    if (!(error instanceof InvalidPattern)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
});

const instant = z
  .string()
  .refine((text) => text.endsWith('Z') && !Number.isNaN(Date.parse(text)), {
    error: 'must be an instant in UTC, such as 2030-01-31T18:00:00Z',
  })
  .meta({ format: 'date-time' });

const silence = z.strictObject({
  match: z.strictObject({
    namespaces: names.optional().meta({ description: 'Namespaces; absent: all of them.' }),
    names: names.optional().meta({ description: 'Names of targets; absent: all of them.' }),
    labels: selector.optional().meta({ description: 'A label selector of Kubernetes.' }),
  }),
  until: instant,
  reason: z.string().min(1).max(1_000),
});

const alert = z.strictObject({
  name,
  match: z
    .strictObject({
      namespaces: names.optional().meta({ description: 'Namespaces; absent: all of them.' }),
      labels: selector.optional().meta({ description: 'A label selector of Kubernetes.' }),
      pattern: pattern.optional().meta({ description: 'An event pattern of EventBridge.' }),
    })
    .optional(),
  for: duration.optional().meta({ description: 'How long the problem lasts before the first notification.' }),
  remind: remind.optional().meta({ description: 'Repeats the notification at this interval; absent: never.' }),
  sendResolved: z.boolean().optional().meta({ description: 'Also notify of the end; default true.' }),
  onUnknown: z.boolean().optional().meta({ description: 'Treat Ready=Unknown like False; default false.' }),
  groupBy: names.optional().meta({ description: 'Labels whose values divide notifications, beside the namespace.' }),
  silences: z.array(silence).max(silencesMax).optional(),
  notify: z.array(name).min(1).max(namesMax),
});

const secret = z.union(
  [z.strictObject({ env: z.string().min(1).max(255) }), z.strictObject({ file: z.string().min(1).max(4_096) })],
  { error: 'must be { env: NAME } or { file: PATH }; a secret itself does not belong in this file' },
);

const httpUrl = z.string().refine((text) => ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? ''), {
  error: 'must be an http or https URL',
});
/** An incoming webhook's URL is a secret of its own. */
const secretUrl = z.union([httpUrl, ...secret.options], {
  error: 'must be an http or https URL, { env: NAME } or { file: PATH }',
});

const receiverKinds = {
  webhook: z.strictObject({ url: secretUrl, secret: secret.optional() }).optional(),
  slack: z.strictObject({ url: secretUrl }).optional(),
  teams: z.strictObject({ url: secretUrl }).optional(),
  discord: z.strictObject({ url: secretUrl }).optional(),
  pagerduty: z.strictObject({ routingKey: secret, url: httpUrl.optional() }).optional(),
  opsgenie: z.strictObject({ apiKey: secret, url: httpUrl.optional() }).optional(),
  alertmanager: z.strictObject({ url: httpUrl }).optional(),
} as const;

const receiver = z.strictObject({ name, ...receiverKinds }).superRefine((value, context) => {
  const given = Object.keys(value).filter((key) => Object.hasOwn(receiverKinds, key));
  if (given.length === 1) return;
  const kinds = Object.keys(receiverKinds).join(', ');
  context.addIssue({ code: 'custom', message: `needs exactly one of ${kinds}; it has ${given.join(', ') || 'none'}` });
});

export const alertConfigSchema = z
  .strictObject({
    alerts: z.array(alert).min(1).max(alertsMax),
    receivers: z.array(receiver).min(1).max(receiversMax),
  })
  .superRefine(({ alerts, receivers }, context) => {
    const known = new Set(receivers.map((each) => each.name));
    const refuse = (path: readonly (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path: [...path], message });
    for (const [kind, list] of Object.entries({ alerts, receivers })) {
      const seen = new Set<string>();
      for (const [index, each] of list.entries()) {
        if (seen.has(each.name)) refuse([kind, index, 'name'], `is not unique: ${each.name} stands above`);
        seen.add(each.name);
      }
    }
    for (const [index, { notify }] of alerts.entries())
      for (const [at, wanted] of notify.entries())
        if (!known.has(wanted)) refuse(['alerts', index, 'notify', at], `no receiver is named ${wanted}`);
  });

export type AlertConfig = z.infer<typeof alertConfigSchema>;
export type AlertEntry = AlertConfig['alerts'][number];
export type ReceiverEntry = AlertConfig['receivers'][number];
/** Where a secret stands. Its value is in no file of alerts. */
export type SecretPlace = z.infer<typeof secret>;
