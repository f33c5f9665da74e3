/**
 * Probe headers whose value is a reference to a secret: resolved right before the request is sent, kept for five minutes, never stored,
 * logged or published. A reference that cannot be resolved is the prober's trouble, not the target's.
 */
import { type SecretReference, secretReference } from '../core/secret-reference.ts';
import type { Attempt } from '../core/types.ts';
import type { Clock } from '../lib/clock.ts';
import type { HttpRequest, Prober } from './prober.ts';

/** The value behind a reference; undefined: there is none, or this deployment does not give it. */
export type ResolveSecret = (reference: SecretReference) => Promise<string | undefined>;

const cachedMs = 300_000;
const cacheEntriesMax = 1_000;

type Ports = { readonly resolveSecret: ResolveSecret; readonly clock: Clock };

/** The same prober, whose requests may carry references. */
export function withSecretHeaders(prober: Prober<HttpRequest>, { resolveSecret, clock }: Ports): Prober<HttpRequest> {
  const cache = new Map<string, { readonly value: string; readonly untilMs: number }>();

  const secretValue = async (text: string): Promise<string | undefined> => {
    const reference = secretReference(text);
    if (!reference) return text;
    const known = cache.get(text);
    if (known && known.untilMs > clock.monotonicMs()) return known.value;
    const value = await resolveSecret(reference).catch(() => undefined);
    if (value === undefined) return undefined;
    if (cache.size >= cacheEntriesMax) cache.clear();
    cache.set(text, { value, untilMs: clock.monotonicMs() + cachedMs });
    return value;
  };

  return async (request) => {
    if (!request.headers.some(([, value]) => secretReference(value))) return prober(request);
    const headers: (readonly [string, string])[] = [];
    for (const [name, value] of request.headers) {
      const resolved = await secretValue(value);
      if (resolved === undefined) return unresolved(name, value);
      headers.push([name, resolved]);
    }
    return prober({ ...request, headers });
  };
}

const unresolved = (name: string, reference: string): Attempt => ({
  outcome: 'unknown',
  output: '',
  error: `header ${name}: the secret ${reference} cannot be resolved`,
  failureClass: 'PROBER',
  timings: { totalMs: 0 },
});
