import { until } from '../../../support/wait.ts';
import { isReady, listTargets } from '../listed.ts';
import type { Actor } from './cast.ts';
import type { Stage } from './stage.ts';

const patience = { withinMs: 180_000, pollMs: 1_000 };

/** Waits until they are all shown ready. */
export function settled(stage: Stage, actors: readonly Actor[]): Promise<true> {
  const names = new Set(actors.map(({ name }) => name));
  return until('the targets settle', patience, async () => {
    const views = (await listTargets(stage.api)).filter(({ metadata }) => names.has(metadata.name));
    return views.length === names.size && views.every(isReady);
  });
}
