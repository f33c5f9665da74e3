/** What is known of a file of targets from one look to the next. */

import type { FileFault } from '../process/file-faults.ts';
import type { ConfigSource } from './config-sources.ts';

/** What is known of a file since it was last read. */
export type Known = {
  readonly signature: string;
  /** Its targets, with how many probes each has, as last read. Absent: it could never be read. */
  readonly probes?: ReadonlyMap<string, number>;
  /** A later version with less, which is not applied before it has been at rest. */
  readonly waiting?: Waiting;
  /** A later version that could not be read. */
  readonly unread?: Unread;
  /** The present version is wrong: the last one that was not is in force. */
  readonly isInvalid?: true;
  /** Targets of the file that are to be tried again. */
  readonly failed: ReadonlySet<string>;
  readonly faults: readonly FileFault[];
  readonly notMonitored: number;
  /** When to try again, and how long to wait after that. */
  readonly retryAtMs: number;
  readonly retryMs: number;
};

type Unread = { readonly signature: string; readonly retryAtMs: number; readonly retryMs: number };
export type Waiting = { readonly signature: string; readonly sinceMs: number; readonly names: ReadonlySet<string> };

export const firstRetryMs = 10_000;
export const retryMsMax = 300_000;

const unknownFile: Known = {
  ...{ signature: '', failed: new Set<string>(), faults: [], notMonitored: 0 },
  ...{ retryAtMs: 0, retryMs: firstRetryMs },
};

/** This version could not be read, and it is too early for another attempt. */
export const isUnreadYet = ({ unread }: Known, { signature }: ConfigSource, nowMs: number): boolean =>
  unread?.signature === signature && nowMs < unread.retryAtMs;

/** The present version is not known: it may have more than the one in force, which may have been half a file. */
export const isInDoubt = ({ probes, unread, isInvalid }: Known): boolean =>
  probes === undefined || unread !== undefined || isInvalid === true;

type Attempt = Pick<Known, 'signature' | 'faults'> & { readonly nowMs: number };

/** A version could not be read: what is known stays, and it is tried again. */
export function unreadFile(before: Known = unknownFile, { signature, faults, nowMs }: Attempt): Known {
  const { unread } = before;
  const retryMs = unread?.signature === signature ? Math.min(unread.retryMs * 2, retryMsMax) : firstRetryMs;
  return { ...before, faults, unread: { signature, retryMs, retryAtMs: nowMs + retryMs } };
}

/** A later version has been read. */
export const readable = ({ unread, ...known }: Known): Known => (unread ? { ...known, faults: [] } : known);

/** The version that waited is gone. */
export const inForce = ({ waiting: _, ...known }: Known): Known => known;
