/**
 * Resolves secrets in probe headers from environment variables: only those with the reserved prefix, and only for the
 * hosts given by option.
 */
import {
  type Destination,
  maySend,
  type SecretHosts,
  type SecretReference,
} from '../../../shared/core/spec/secret-hosts.ts';
import { hostPort } from '../../../shared/net/dial-failure.ts';
import type { Secrets } from '../../../shared/secrets/secrets.ts';

/** The author of a target chooses the variable, so other variables of the process must not be accessible. */
export const secretVariablePrefix = 'PROBELET_SECRET_';

export function environmentSecrets(hosts: SecretHosts): Secrets {
  return {
    refusal: (reference, to) =>
      notMeant(reference) ?? (maySend(hosts, reference, to) ? undefined : notAllowed(reference, to)),
    async resolve(reference) {
      const why = notMeant(reference);
      if (why !== undefined) return { kind: 'none', why };
      const value = process.env[reference.name];
      return value === undefined ? { kind: 'none', why: noVariable } : { kind: 'value', value };
    },
  };
}

const noVariable = 'there is no such variable';

/** Returns the reason why an allowed secret has no value, with a remedy, or undefined if it has one. */
export const missingVariable = ({ name }: SecretReference): string | undefined =>
  process.env[name] === undefined
    ? `${noVariable}; npm start with ${name} in its environment would have it`
    : undefined;

/** A line for each secret of the options that has no value, because its probes cannot run. */
export const unsetSecretLines = (hosts: SecretHosts): readonly string[] =>
  [...hosts.keys()]
    .map((reference) => reference.replace(/^env:/, ''))
    .filter((name) => process.env[name] === undefined)
    .map((name) => `--secret ${name}: ${noVariable} in the environment, so probes with it cannot run`);

function notMeant({ source, name }: SecretReference): string | undefined {
  if (source !== 'env') return 'npm start resolves env: alone';
  return name.startsWith(secretVariablePrefix) ? undefined : `its name has to begin with ${secretVariablePrefix}`;
}

function notAllowed({ name }: SecretReference, { host, port }: Destination): string {
  const to = hostPort(host, port);
  return `it may not be sent to ${to}; npm start -- --secret ${name}=${to} would allow it`;
}
