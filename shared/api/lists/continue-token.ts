/**
 * The opaque token for the rest of a list. It names a position, so targets that are added or removed in between do no
 * harm.
 */
import type { SortKey, SortOrder } from './list-order.ts';
import type { Position } from './scan.ts';

const version = 1;

const encoded = (parts: readonly unknown[]): string =>
  Buffer.from(JSON.stringify([version, ...parts])).toString('base64url');

/** undefined: not a token of this release. */
function decoded(token: string): readonly unknown[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    return Array.isArray(parts) && parts[0] === version ? parts.slice(1) : undefined;
  } catch {
    return undefined;
  }
}

/** `of`: the only request that it continues; empty: any request. */
export const continueToken = ({ bucket, after }: Position, of = ''): string => encoded([bucket, after, of]);

/** undefined: not a token of this release, or of another request. */
export function readContinueToken(token: string, of = ''): Position | undefined {
  const [bucket, after, tokenOf = ''] = decoded(token) ?? [];
  const valid = tokenOf === of && typeof bucket === 'string' && /^[0-9a-f]{2}$/.test(bucket);
  return valid && typeof after === 'string' && after !== '' ? { bucket, after } : undefined;
}

/** Token of a sorted list: the key of the last item. */
export const sortedToken = (order: SortOrder, { changedMs, name, namespace }: SortKey): string =>
  encoded([order, changedMs, name, namespace]);

/** undefined: not a token of this release, or of another order. */
export function readSortedToken(token: string, order: SortOrder): SortKey | undefined {
  const [tokenOrder, changedMs, name, namespace] = decoded(token) ?? [];
  const valid = tokenOrder === order && typeof changedMs === 'number' && Number.isFinite(changedMs);
  return valid && typeof name === 'string' && typeof namespace === 'string'
    ? { changedMs, name, namespace }
    : undefined;
}
