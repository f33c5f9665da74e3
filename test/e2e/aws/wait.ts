/** Looking again and again, until something is there. */
import { setTimeout as pause } from 'node:timers/promises';

const pollMs = 200;

/** The first look that finds something. @throws Error naming what did not come in time. */
export async function until<Found>(
  what: string,
  withinMs: number,
  look: () => Promise<Found | undefined | false> | Found | undefined | false,
): Promise<Found> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endMs) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await pause(pollMs);
  }
}

/** As long as something has to stay as it is. */
export { pause };
