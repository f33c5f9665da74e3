/** The receivers of a configuration with the secrets that they name. */
import type { ReceiverEntry, SecretPlace } from '../../../shared/alerts/alert-config.ts';
import type { Receiver } from '../../../shared/alerts/formats/receiver.ts';
import { isWebhookSecret } from '../../../shared/alerts/formats/webhook.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import { ownProperty } from '../../../shared/lib/own-property.ts';
import { InvalidOption, readText } from '../options/option-values.ts';

/**
 * Reads the secrets. `field` begins each error.
 *
 * @throws InvalidOption
 */
export function receiverOf(entry: ReceiverEntry, field: string, allows: AllowList | undefined): Receiver {
  const { name, email, exec } = entry;
  if (email) return mailReceiver(name, email, `${field}.email`);
  if (!exec) return httpReceiver(entry, field);
  const { command } = exec;
  if (allows?.(command)) return { kind: 'exec', name, command };
  throw new InvalidOption(`${field}.exec.command: is not allowed: name it in the file of --allow-exec`);
}

const submissionPort = 587;
const implicitPort = 465;

type MailEntry = NonNullable<ReceiverEntry['email']>;

function mailReceiver(name: string, entry: MailEntry, field: string): Receiver {
  requireMailer(field);
  const { host, tls = 'starttls', caFile, user, password, from, to } = entry;
  const { port = tls === 'implicit' ? implicitPort : submissionPort } = entry;
  const login = user !== undefined && password && { user, password: secretValue(password, `${field}.password`) };
  const ca = caFile === undefined ? undefined : readText(`${field}.caFile`, caFile);
  return { kind: 'email', name, host, port, tls, from, to, ...(login && { login }), ...(ca !== undefined && { ca }) };
}

/** The npm package has it as an optional peer, because most installations send no mail. */
function requireMailer(field: string): void {
  try {
    import.meta.resolve('nodemailer');
  } catch {
    throw new InvalidOption(`${field}: needs the package nodemailer: install it beside probelet`);
  }
}

function httpReceiver(entry: ReceiverEntry, field: string): Receiver {
  const { name, webhook, pagerduty, opsgenie, alertmanager } = entry;
  if (webhook) {
    const { url, secret } = webhook;
    const signing = secret && { secret: webhookSecret(secret, `${field}.webhook.secret`) };
    return { kind: 'webhook', name, url: urlFrom(url, `${field}.webhook.url`), ...signing };
  }
  if (pagerduty) {
    const { routingKey, url } = pagerduty;
    const key = secretValue(routingKey, `${field}.pagerduty.routingKey`);
    return { kind: 'pagerduty', name, key, ...(url !== undefined && { url }) };
  }
  if (opsgenie) {
    const { apiKey, url } = opsgenie;
    const key = secretValue(apiKey, `${field}.opsgenie.apiKey`);
    return { kind: 'opsgenie', name, key, ...(url !== undefined && { url }) };
  }
  if (alertmanager) return { kind: 'alertmanager', name, url: alertmanager.url };
  return chatReceiver(entry, field);
}

function chatReceiver({ name, slack, teams, discord }: ReceiverEntry, field: string): Receiver {
  const [kind, given] = slack
    ? (['slack', slack] as const)
    : teams
      ? (['teams', teams] as const)
      : (['discord', discord] as const);
  return { kind, name, url: urlFrom(given?.url ?? '', `${field}.${kind}.url`) };
}

function urlFrom(given: string | SecretPlace, field: string): string {
  if (typeof given === 'string') return given;
  const text = secretValue(given, field);
  if (!['http:', 'https:'].includes(URL.parse(text)?.protocol ?? ''))
    throw new InvalidOption(`${field}: ${placeText(given)} holds no http or https URL`);
  return text;
}

function webhookSecret(place: SecretPlace, field: string): string {
  const secret = secretValue(place, field);
  if (isWebhookSecret(secret)) return secret;
  throw new InvalidOption(`${field}: ${placeText(place)} holds no whsec_ and 24 to 64 bytes in base64`);
}

/** Errors name the place, never the value. */
function secretValue(place: SecretPlace, field: string): string {
  const value = 'env' in place ? ownProperty(process.env, place.env) : readText(field, place.file);
  const secret = value?.trim() ?? '';
  if (secret === '') throw new InvalidOption(`${field}: ${placeText(place)} is empty or not set`);
  return secret;
}

const placeText = (place: SecretPlace): string => ('env' in place ? `the variable ${place.env}` : place.file);
