import { sleep, systemClock } from '../../../../shared/lib/clock.ts';
import { isReady, listTargets } from '../listed.ts';
import type { Actor } from './cast.ts';
import type { Stage } from './stage.ts';

const settleMsMax = 180_000;
const lookMs = 1_000;

/** Waits until they are all shown ready. */
export async function settled(stage: Stage, actors: readonly Actor[]): Promise<void> {
  const names = new Set(actors.map(({ name }) => name));
  const endMs = Date.now() + settleMsMax;
  for (;;) {
    const views = (await listTargets(stage.api)).filter(({ metadata }) => names.has(metadata.name));
    if (views.length === names.size && views.every(isReady)) return;
    if (Date.now() > endMs) throw new Error('the targets do not settle');
    await sleep(systemClock, lookMs);
  }
}
