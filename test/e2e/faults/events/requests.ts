/** Only restart requests get lost: they are told again until they are answered, whatever else goes on. */
import { requestAgainFirstMs } from '../../../../shared/core/restart-requests.ts';
import { sleep, systemClock } from '../../../../shared/lib/clock.ts';
import { atMost, exactly, type Figure, told } from '../../../support/figures.ts';
import type { Length } from '../step.ts';
import { type Actor, reported } from './cast.ts';
import { restarter } from './restarter.ts';
import { settled } from './settled.ts';
import type { Stage } from './stage.ts';

const targets = 40;
/** Told after 10 s and then after twice as long each time: lost at least twice, or four times. */
const lossMs: Readonly<Record<Length, number>> = { full: 120_000, slice: 30_000 };
const lookMs = 500;

export async function loseRequests(stage: Stage, length: Length): Promise<readonly Figure[]> {
  const actors = Array.from({ length: targets }, (_, at): Actor => reported(stage, `reported-${at}`));
  for (const { enter } of actors) await enter();
  await settled(stage, actors);
  const { delivered } = restarter(stage);
  stage.bus.lose((type) => type === 'Container Restart Requested');
  for (const { act } of actors) await act();
  await sleep(systemClock, lossMs[length]);
  const [early, lost] = [delivered.size, stage.bus.lost()];
  stage.bus.lose(undefined);
  // The next time is at most as far away as the first was, and one interval.
  const withinMs = lossMs[length] + requestAgainFirstMs;
  const beganMs = Date.now();
  while (delivered.size < targets && Date.now() - beganMs < withinMs) await sleep(systemClock, lookMs);
  const lastMs = delivered.size < targets ? Number.POSITIVE_INFINITY : Date.now() - beganMs;
  return [
    told(`restart requests lost in ${lossMs[length] / 1_000} s, of ${targets} containers`, `${lost}`),
    exactly('delivered meanwhile', early, 0),
    exactly('told again and delivered afterwards', delivered.size, targets),
    atMost('the last one after', lastMs / 1_000, { limit: withinMs / 1_000, unit: 's' }),
  ];
}
