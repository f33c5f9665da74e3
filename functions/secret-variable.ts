/**
 * Where secrets may be sent, as a deployment tells its prober in one variable: `ssm:/probelet/token a.test b.test:443,secretsmanager:…`.
 * Not JSON, whose quotes Lambda counts twice against its limit.
 */
import { type SecretHosts, secretHost } from '../shared/core/secret-hosts.ts';
import { secretReference } from '../shared/core/secret-reference.ts';

export type SecretHostTexts = { readonly [reference: string]: readonly string[] };

export const secretVariable = (secrets: SecretHostTexts): string =>
  Object.entries(secrets)
    .map(([reference, hosts]) => [reference, ...hosts].join(' '))
    .join(',');

/** Undefined: the text is no such list. */
export function secretHostsOf(text: string): SecretHosts | undefined {
  const entries = text === '' ? [] : text.split(',').map(entryOf);
  return entries.every((entry) => entry !== undefined) ? new Map(entries) : undefined;
}

function entryOf(text: string) {
  const [reference = '', ...given] = text.split(' ');
  const hosts = given.map(secretHost);
  const isWhole = secretReference(reference) !== undefined && hosts.every((host) => host !== undefined);
  return isWhole && hosts.length > 0 ? ([reference, hosts] as const) : undefined;
}
