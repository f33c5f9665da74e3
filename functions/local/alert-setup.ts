/** The option `--alerts`: the file of alerts, with the secrets that it names. */
import type { ReceiverEntry, SecretPlace } from '../../shared/alerts/alert-config.ts';
import { type AlertRule, alertRules } from '../../shared/alerts/alert-rule.ts';
import type { Receiver } from '../../shared/alerts/formats/receiver.ts';
import { isWebhookSecret } from '../../shared/alerts/formats/webhook.ts';
import { readAlertConfig } from '../../shared/alerts/read-config.ts';
import { InvalidOption, readText } from './option-values.ts';

export type AlertSetup = { readonly rules: readonly AlertRule[]; readonly receivers: readonly Receiver[] };

/** Errors of the file that are shown at once. */
const errorsShownMax = 10;

/** @throws InvalidOption that names each wrong field with its place. */
export function readAlerts(path: string): AlertSetup {
  const read = readAlertConfig(readText('--alerts', path));
  if (read.kind === 'invalid') {
    const lines = read.problems.map(({ line, column, detail }) => `--alerts: ${path}:${line}:${column}: ${detail}`);
    throw new InvalidOption(lines.slice(0, errorsShownMax).join('\nprobelet: '));
  }
  const receivers = read.config.receivers.map((entry, index) => {
    const { line, column } = read.placeOf(['receivers', index]);
    return receiverOf(entry, `--alerts: ${path}:${line}:${column}: receivers[${index}]`);
  });
  return { rules: alertRules(read.config), receivers };
}

/** `field` begins each error. */
function receiverOf(entry: ReceiverEntry, field: string): Receiver {
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
  const value = 'env' in place ? process.env[place.env] : readText(field, place.file);
  const secret = value?.trim() ?? '';
  if (secret === '') throw new InvalidOption(`${field}: ${placeText(place)} is empty or not set`);
  return secret;
}

const placeText = (place: SecretPlace): string => ('env' in place ? `the variable ${place.env}` : place.file);
