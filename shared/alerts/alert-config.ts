/** The alerts and receivers of a configuration: which targets they are about, when they are sent, and where to. */
import * as z from 'zod';
import { parseLabelSelector } from '../api/lists/label-selector.ts';
import { compilePattern, InvalidPattern } from '../bus/pattern.ts';
import { hostDetail } from '../core/spec/host-detail.ts';
import { isHost } from '../core/spec/names.ts';
import { durationSeconds } from '../manifest/duration.ts';

/** Limits of one configuration. */
const alertsMax = 200;
const receiversMax = 100;
const silencesMax = 1_000;
const namesMax = 100;
const nameCharactersMax = 63;
const recipientsMax = 50;
const commandWordsMax = 100;
const commandCharactersMax = 4_096;
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

const silenceFields = z.strictObject({
  match: z.strictObject({
    namespaces: names.optional().meta({ description: 'Namespaces; absent: all of them.' }),
    names: names.optional().meta({ description: 'Names of targets; absent: all of them.' }),
    labels: selector.optional().meta({ description: 'A label selector of Kubernetes.' }),
  }),
  from: instant.optional().meta({ description: 'When it begins; absent: at once.' }),
  until: instant,
  reason: z.string().min(1).max(1_000),
});

const silence = silenceFields.superRefine(({ from, until }, context) => {
  if (from === undefined || Date.parse(from) < Date.parse(until)) return;
  context.addIssue({ code: 'custom', path: ['until'], message: 'must be later than from' });
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

const mailAddress = z
  .string()
  .max(254)
  .refine((text) => /^[^\s@,<>"]+@[^\s@,<>"]+$/.test(text), {
    error: 'must be an address such as ops@example.org alone',
  });

const mailHost = z.string().superRefine((text, context) => {
  if (!isHost(text)) context.addIssue({ code: 'custom', message: hostDetail(text) });
});

const email = z
  .strictObject({
    host: mailHost,
    port: z.int().min(1).max(65_535).optional().meta({ description: 'Default 587; 465 with tls: implicit.' }),
    tls: z
      .enum(['starttls', 'implicit', 'none'])
      .optional()
      .meta({ description: 'starttls, the default, is required and not only tried.' }),
    caFile: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .meta({ description: 'Trusted certificates in PEM, in place of the usual.' }),
    user: z.string().min(1).max(255).optional(),
    password: secret.optional(),
    from: mailAddress,
    to: z.array(mailAddress).min(1).max(recipientsMax),
  })
  .superRefine(({ user, password, tls }, context) => {
    if ((user === undefined) !== (password === undefined))
      context.addIssue({ code: 'custom', message: 'needs both user and password, or neither' });
    if (password !== undefined && tls === 'none')
      context.addIssue({ code: 'custom', path: ['tls'], message: 'must not be none: a password would be readable' });
  });

const exec = z.strictObject({
  command: z
    .array(z.string().max(commandCharactersMax))
    .min(1)
    .max(commandWordsMax)
    .meta({ description: 'A program with its arguments, as it stands in the file of --allow-exec.' }),
});

const receiverKinds = {
  webhook: z.strictObject({ url: secretUrl, secret: secret.optional() }).optional(),
  slack: z.strictObject({ url: secretUrl }).optional(),
  teams: z.strictObject({ url: secretUrl }).optional(),
  discord: z.strictObject({ url: secretUrl }).optional(),
  pagerduty: z.strictObject({ routingKey: secret, url: httpUrl.optional() }).optional(),
  opsgenie: z.strictObject({ apiKey: secret, url: httpUrl.optional() }).optional(),
  alertmanager: z.strictObject({ url: httpUrl }).optional(),
  email: email.optional(),
  exec: exec.optional(),
} as const;

const receiver = z.strictObject({ name, ...receiverKinds }).superRefine((value, context) => {
  const given = Object.keys(value).filter((key) => Object.hasOwn(receiverKinds, key));
  if (given.length === 1) return;
  const kinds = Object.keys(receiverKinds).join(', ');
  context.addIssue({ code: 'custom', message: `needs exactly one of ${kinds}; it has ${given.join(', ') || 'none'}` });
});

/** The fields of a configuration that are about alerts. Both may be absent. */
export const alertFields = {
  alerts: z.array(alert).max(alertsMax).optional(),
  receivers: z.array(receiver).max(receiversMax).optional(),
} as const;

export type AlertConfig = z.infer<z.ZodObject<typeof alertFields>>;
export type AlertEntry = NonNullable<AlertConfig['alerts']>[number];
export type SilenceEntry = z.infer<typeof silence>;
export type ReceiverEntry = NonNullable<AlertConfig['receivers']>[number];

export type NameProblem = { readonly path: readonly (string | number)[]; readonly message: string };

/** Names that are used twice, and receivers that are not there. */
export function nameProblems({ alerts = [], receivers = [] }: AlertConfig): readonly NameProblem[] {
  const known = new Set(receivers.map((each) => each.name));
  const missing = alerts.flatMap(({ notify }, index) =>
    notify.flatMap((wanted, at) =>
      known.has(wanted) ? [] : [{ path: ['alerts', index, 'notify', at], message: `no receiver is named ${wanted}` }],
    ),
  );
  return [...namedAgain('alerts', alerts), ...namedAgain('receivers', receivers), ...missing];
}

function namedAgain(field: string, list: readonly { readonly name: string }[]): readonly NameProblem[] {
  const seen = new Set<string>();
  return list.flatMap((each, index) => {
    const isKnown = seen.has(each.name);
    seen.add(each.name);
    return isKnown ? [{ path: [field, index, 'name'], message: `is not unique: ${each.name} stands above` }] : [];
  });
}

/** Where a secret stands. Its value is in no configuration. */
export type SecretPlace = z.infer<typeof secret>;
