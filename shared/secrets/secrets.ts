/**
 * The port to the secrets that probe headers refer to. A deployment decides where it reads them and to which hosts it
 * sends them.
 */
import type { Destination, SecretReference } from '../core/spec/secret-hosts.ts';

/** The answer to a reference. `why`: there is no value, or this deployment withholds it; part of the probe's error. */
export type Secret =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'none'; readonly why: string };

export type ResolveSecret = (reference: SecretReference) => Promise<Secret>;

/** Returns why the secret may not be sent to the destination and what would allow it; undefined if it may be sent. */
export type SecretRefusal = (reference: SecretReference, to: Destination) => string | undefined;

export type Secrets = {
  readonly resolve: ResolveSecret;
  /** Called for every request. */
  readonly refusal: SecretRefusal;
};
