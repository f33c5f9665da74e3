/**
 * The file by which a process whose event loop hung reports the responsible probe to the next process on the same data
 * folder.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { rememberHang } from '../../../shared/holder/probing/hung-probe.ts';
import { readBounded } from '../../../shared/lib/bounded-file.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Log } from '../../../shared/lib/log.ts';
import type { Random } from '../../../shared/lib/random.ts';
import type { Store } from '../../../shared/store/store.ts';

/** The name of a probe and a time. */
const hangBytesMax = 64 * 1_024;

export const hangFile = (dataDir: string): string => join(dataDir, 'hang');

type Ports = { readonly store: Store; readonly clock: Clock; readonly random: Random; readonly log: Log };

/**
 * Records the hang in the store and removes the file. If the store is unavailable, the file stays for the next start.
 * Never throws.
 */
export async function takeHangFile({ store, clock, random, log }: Ports, path: string): Promise<void> {
  try {
    await rememberHang({ store, clock, random }, readBounded(path, hangBytesMax).toString('latin1'), clock.nowMs());
    rmSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') log.warn('a hang could not be remembered', { cause });
  }
}
