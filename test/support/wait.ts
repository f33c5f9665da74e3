/** Looking again and again, until something is there. */
import { setTimeout as pause } from 'node:timers/promises';

export type Patience = { readonly withinMs: number; readonly pollMs: number };

/** The first look that finds something. @throws Error naming what did not come in time. */
export async function until<Found>(
  what: string | (() => string),
  patience: number | Patience,
  look: () => Promise<Found | undefined | false> | Found | undefined | false,
): Promise<Found> {
  const { withinMs, pollMs } = typeof patience === 'number' ? { withinMs: patience, pollMs: 200 } : patience;
  const endMs = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endMs)
      throw new Error(`not within ${withinMs / 1_000} s: ${typeof what === 'string' ? what : what()}`);
    await pause(pollMs);
  }
}

export { pause };
