/**
 * Probe headers whose value is a reference to a secret: resolved right before the request is sent, kept for five minutes, never stored,
 * logged or published. A reference that cannot be resolved is the prober's trouble, not the target's.
 */
import { type SecretReference, secretReference } from '../core/secret-reference.ts';
import type { Attempt } from '../core/types.ts';
import type { Clock } from '../lib/clock.ts';
import type { HttpRequest, Prober } from './prober.ts';

/** What is behind a reference. `why`: there is no value, or this deployment does not give it; told to whoever reads the probe's error. */
export type Secret =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'none'; readonly why: string };

export type ResolveSecret = (reference: SecretReference) => Promise<Secret>;

const cachedMs = 300_000;
const cacheEntriesMax = 1_000;

type Ports = { readonly resolveSecret: ResolveSecret; readonly clock: Clock };

/** The same prober, whose requests may carry references. */
export function withSecretHeaders(prober: Prober<HttpRequest>, { resolveSecret, clock }: Ports): Prober<HttpRequest> {
  const cache = new Map<string, { readonly value: string; readonly untilMs: number }>();

  const secretOf = async (text: string): Promise<Secret> => {
    const reference = secretReference(text);
    if (!reference) return { kind: 'value', value: text };
    const known = cache.get(text);
    if (known && known.untilMs > clock.monotonicMs()) return { kind: 'value', value: known.value };
    const secret = await resolveSecret(reference).catch(notResolved);
    if (secret.kind === 'none') return secret;
    if (cache.size >= cacheEntriesMax) cache.clear();
    cache.set(text, { value: secret.value, untilMs: clock.monotonicMs() + cachedMs });
    return secret;
  };

  return async (request, permit) => {
    if (!request.headers.some(([, value]) => secretReference(value))) return prober(request, permit);
    const headers: (readonly [string, string])[] = [];
    for (const [name, value] of request.headers) {
      const secret = await secretOf(value);
      if (secret.kind === 'none') return unresolved(name, value, secret.why);
      headers.push([name, secret.value]);
    }
    return prober({ ...request, headers }, permit);
  };
}

/** What was thrown may have the value in it. */
const notResolved = (): Secret => ({ kind: 'none', why: 'asking for it failed' });

const unresolved = (name: string, reference: string, why: string): Attempt => ({
  outcome: 'unknown',
  output: '',
  error: `header ${name}: the secret ${reference} cannot be resolved: ${why}`,
  failureClass: 'PROBER',
  timings: { totalMs: 0 },
});
