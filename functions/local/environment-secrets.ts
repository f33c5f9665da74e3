/** Secrets of probe headers on one machine: variables of the environment, those alone that are meant for it, for the hosts that are named. */
import { type Destination, maySend, type SecretHosts } from '../../shared/core/secret-hosts.ts';
import type { SecretReference } from '../../shared/core/secret-reference.ts';
import { hostPort } from '../../shared/net/dial-failure.ts';
import type { Secrets } from '../../shared/prober/secret-headers.ts';

/** Whoever registers a target names the variable, so no other variable of the process may be named. */
export const secretPrefix = 'PROBELET_SECRET_';

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

/** Why a secret that may be sent has no value, and what would give it one; undefined: it has one. */
export const missingVariable = ({ name }: SecretReference): string | undefined =>
  process.env[name] === undefined
    ? `${noVariable}; npm start with ${name} in its environment would have it`
    : undefined;

function notMeant({ source, name }: SecretReference): string | undefined {
  if (source !== 'env') return 'npm start resolves env: alone';
  return name.startsWith(secretPrefix) ? undefined : `its name has to begin with ${secretPrefix}`;
}

function notAllowed({ name }: SecretReference, { host, port }: Destination): string {
  const to = hostPort(host, port);
  return `it may not be sent to ${to}; npm start -- --secret ${name}=${to} would allow it`;
}
