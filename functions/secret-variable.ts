/**
 * Encodes the hosts of each secret in one environment variable: `ssm:/probelet/token a.test
 * b.test:443,secretsmanager:…`. Not JSON, because Lambda counts each quote twice towards its limit.
 */
import { type SecretHosts, secretHost, secretReference } from '../shared/core/spec/secret-hosts.ts';

export type SecretHostTexts = { readonly [reference: string]: readonly string[] };

export const secretVariable = (secrets: SecretHostTexts): string =>
  Object.entries(secrets)
    .map(([reference, hosts]) => [reference, ...hosts].join(' '))
    .join(',');

/** Returns undefined if the text is not a valid list. */
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
