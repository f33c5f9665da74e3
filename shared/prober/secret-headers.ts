/**
 * Probe headers whose value is a reference to a secret. References are resolved immediately before the request is sent.
 * Values are kept for five minutes and never stored, logged or published. A reference that cannot be resolved, or whose
 * secret may not be sent to the dialed host, is a prober error, because it says nothing about the target.
 */
import { toBytes } from '../core/go/bytes.ts';
import type { HttpRequest, RequestHeader } from '../core/spec/handler-http-get.ts';
import { type Destination, type SecretReference, secretReference } from '../core/spec/secret-hosts.ts';
import type { Attempt } from '../core/spec/types.ts';
import type { Clock } from '../lib/clock.ts';
import { memoized } from '../lib/memoized.ts';
import type { ResolveSecret, Secret, SecretRefusal, Secrets } from '../secrets/secrets.ts';
import { isHeaderValue } from './http/request.ts';
import { httpUrl } from './http/url.ts';
import type { Prober } from './prober.ts';

const cachedMs = 300_000;
const cacheEntriesMax = 1_000;

type Ports = { readonly secrets: Secrets; readonly clock: Clock };

/** Extends a prober to requests whose headers contain references. */
export function withSecretHeaders(prober: Prober<HttpRequest>, { secrets, clock }: Ports): Prober<HttpRequest> {
  const secretOf = cached(secrets.resolve, clock);

  const withSecrets: Prober<HttpRequest> = async (request, permit) => {
    const to = destinationOf(request);
    const headers: RequestHeader[] = [];
    for (const header of request.headers) {
      const [name, text] = header;
      const reference = secretReference(text);
      const secret = reference && (refused(secrets.refusal(reference, to)) ?? (await secretOf(text, reference)));
      permit?.resumes?.();
      if (secret?.kind === 'none') return unresolved(name, text, secret.why);
      headers.push(secret ? [name, secret.value, 'secret'] : header);
    }
    return prober({ ...request, headers }, permit);
  };
  return (request, permit) => (refersToSecrets(request) ? withSecrets : prober)(request, permit);
}

const refersToSecrets = memoized(({ headers }: HttpRequest) => headers.some(([, value]) => secretReference(value)));

/** Returns the prober errors that `refusal` causes for the headers of a request. */
export function refusedHeaders(request: HttpRequest, refusal: SecretRefusal): readonly string[] {
  const to = destinationOf(request);
  return request.headers.flatMap(([name, text]) => {
    const reference = secretReference(text);
    const why = reference && refusal(reference, to);
    return why === undefined ? [] : [unresolvedError(name, text, why)];
  });
}

/** The URL determines where the request goes. A `Host` header only selects what the server answers. */
function destinationOf({ url }: HttpRequest): Destination {
  const { dialHost, port } = httpUrl(toBytes(url));
  return { host: dialHost, port };
}

const refused = (why: string | undefined): Secret | undefined =>
  why === undefined ? undefined : { kind: 'none', why };

function cached(resolve: ResolveSecret, clock: Clock) {
  const cache = new Map<string, { readonly value: string; readonly untilMs: number }>();
  return async (text: string, reference: SecretReference): Promise<Secret> => {
    const known = cache.get(text);
    if (known && known.untilMs > clock.monotonicMs()) return { kind: 'value', value: known.value };
    const secret = await resolve(reference).catch(notResolved);
    if (secret.kind === 'none') return secret;
    if (!isHeaderValue(secret.value)) return notSendable;
    if (cache.size >= cacheEntriesMax) cache.clear();
    cache.set(text, { value: secret.value, untilMs: clock.monotonicMs() + cachedMs });
    return secret;
  };
}

/** The error is dropped because it may contain the value. */
const notResolved = (): Secret => ({ kind: 'none', why: 'asking for it failed' });

const notSendable: Secret = {
  kind: 'none',
  why: 'its value has a line break or another control character, which no header can carry',
};

const unresolved = (name: string, reference: string, why: string): Attempt => ({
  outcome: 'unknown',
  output: '',
  error: unresolvedError(name, reference, why),
  failureClass: 'PROBER',
  timings: { totalMs: 0 },
});

const unresolvedError = (name: string, reference: string, why: string): string =>
  `header ${name}: the secret ${reference} cannot be resolved: ${why}`;
