/** The opaque token of a list that goes on. It names a place, so that what was removed or added in between does no harm. */
import type { Position } from './scan.ts';

const version = 1;

/** `of`: what alone it goes on with; empty: with any request. */
export const continueToken = ({ bucket, after }: Position, of = ''): string =>
  Buffer.from(JSON.stringify([version, bucket, after, of])).toString('base64url');

/** undefined: not a token of this release, or of another request. */
export function readContinueToken(token: string, of = ''): Position | undefined {
  try {
    const [tokenVersion, bucket, after, tokenOf = '']: unknown[] = JSON.parse(
      Buffer.from(token, 'base64url').toString(),
    );
    const valid =
      tokenVersion === version && tokenOf === of && typeof bucket === 'string' && /^[0-9a-f]{2}$/.test(bucket);
    return valid && typeof after === 'string' && after !== '' ? { bucket, after } : undefined;
  } catch {
    return undefined;
  }
}
