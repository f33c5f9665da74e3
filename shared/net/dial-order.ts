/** The addresses of a name that may be dialed, in the order in which they are. */
import type { Clock } from '../lib/clock.ts';
import { inDialOrder } from './address-order.ts';
import { type Families, familiesOf } from './dial-addresses.ts';
import type { DialPolicy } from './net.ts';
import type { SourceOf } from './source-address.ts';

/** `permits`: the policy that the dial is subject to. A promise only where several may be. */
export type DialOrder = (addresses: readonly string[], permits: DialPolicy) => Families | Promise<Families>;

export type DialOrderOptions = { readonly clock: Clock; readonly policy: DialPolicy; readonly sourceOf: SourceOf };

/**
 * Routes change rarely, and asking for them costs a socket for each address. Go asks at each dial.
 */
const orderKeptMs = 5_000;

/** Further addresses of an answer are dialed last, if at all (difference 11). */
const sortedMax = 64;

/**
 * No source address is asked for where the policy denies the address. That changes nothing in the order of the others,
 * because two addresses are compared by themselves alone.
 */
export function dialOrder({ clock, policy, sourceOf }: DialOrderOptions): DialOrder {
  /** By the list of a kept answer, or of the hosts file as it is. */
  const kept = new WeakMap<readonly string[], { readonly families: Families; readonly untilMs: number }>();
  const sorted = async (resolved: readonly string[], permitted: readonly string[], permits: DialPolicy) => {
    const families = familiesOf(await bySource(permitted, sourceOf));
    if (permits === policy) kept.set(resolved, { families, untilMs: clock.monotonicMs() + orderKeptMs });
    return families;
  };
  return (resolved, permits) => {
    const known = permits === policy ? kept.get(resolved) : undefined;
    if (known && known.untilMs > clock.monotonicMs()) return known.families;
    const permitted = resolved.filter(permits);
    return permitted.length < 2 ? familiesOf(permitted) : sorted(resolved, permitted, permits);
  };
}

/** One after the other, as Go asks: one more socket at a time. */
async function bySource(addresses: readonly string[], sourceOf: SourceOf): Promise<readonly string[]> {
  const asked = addresses.slice(0, sortedMax);
  const sources: (string | undefined)[] = [];
  try {
    for (const address of asked) sources.push(await sourceOf(address));
  } catch {
    // The dial will say that the machine has no free socket.
    return addresses;
  }
  return [...inDialOrder(asked, sources), ...addresses.slice(sortedMax)];
}
