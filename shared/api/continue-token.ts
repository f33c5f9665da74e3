/** The opaque token of a list that goes on. It names a place, so that what was removed or added in between does no harm. */
import type { Position } from './scan.ts';

const version = 1;

export const continueToken = ({ bucket, after }: Position): string =>
  Buffer.from(JSON.stringify([version, bucket, after])).toString('base64url');

/** undefined: not a token of this release. */
export function readContinueToken(token: string): Position | undefined {
  try {
    const [tokenVersion, bucket, after]: unknown[] = JSON.parse(Buffer.from(token, 'base64url').toString());
    const valid = tokenVersion === version && typeof bucket === 'string' && /^[0-9a-f]{2}$/.test(bucket);
    return valid && typeof after === 'string' && after !== '' ? { bucket, after } : undefined;
  } catch {
    return undefined;
  }
}
