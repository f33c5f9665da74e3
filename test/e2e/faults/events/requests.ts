/** Only restart requests get lost: they are published again until a subscriber acts on them. */
import { requestAgainFirstMs } from '../../../../shared/core/status/restart-requests.ts';
import { sleep, systemClock } from '../../../../shared/lib/clock.ts';
import { atMost, exactly, type Figure, unjudged } from '../../../support/figures.ts';
import type { Length } from '../step.ts';
import { type Actor, reported } from './cast.ts';
import { restarter } from './restarter.ts';
import { settled } from './settled.ts';
import type { Stage } from './stage.ts';

const targets = 40;
/** Published again after 10 s and then after twice as long each time: lost at least twice, or four times. */
const lossMs: Readonly<Record<Length, number>> = { full: 120_000, slice: 30_000 };
/** Until each container has failed and its request was lost, on a busy machine too. */
const failedMsMax = 120_000;
const lookMs = 500;

export async function loseRequests(stage: Stage, length: Length): Promise<readonly Figure[]> {
  const actors = Array.from({ length: targets }, (_, at): Actor => reported(stage, `reported-${at}`));
  for (const { enter } of actors) await enter();
  await settled(stage, actors);
  const { delivered } = restarter(stage);
  stage.bus.lose((type) => type === 'Container Restart Requested');
  for (const { act } of actors) await act();
  const beganMs = Date.now();
  while (requested(stage) < targets && Date.now() - beganMs < failedMsMax) await sleep(systemClock, lookMs);
  await sleep(systemClock, lossMs[length]);
  const [early, lost, requestedBefore] = [delivered.size, stage.bus.lost(), requested(stage)];
  stage.bus.lose(undefined);
  const endedMs = Date.now();
  // The next time is at most as far away as the first was, and one interval.
  const withinMs = endedMs - beganMs + requestAgainFirstMs;
  while (delivered.size < targets && Date.now() - endedMs < withinMs) await sleep(systemClock, lookMs);
  const lastMs = delivered.size < targets ? Number.POSITIVE_INFINITY : Date.now() - endedMs;
  return [
    unjudged(
      `restart requests lost in ${Math.round((endedMs - beganMs) / 1_000)} s, of ${targets} containers`,
      `${lost}`,
    ),
    exactly('containers whose request was lost', requestedBefore, targets),
    exactly('delivered meanwhile', early, 0),
    exactly('told again and delivered afterwards', delivered.size, targets),
    atMost('the last one after', lastMs / 1_000, { limit: withinMs / 1_000, unit: 's' }),
  ];
}

/** Of how many of these containers the bus has taken a request. */
function requested({ bus }: Stage): number {
  const names = bus.taken.flatMap(({ detailType, detail }) =>
    detailType === 'Container Restart Requested' ? [detail.target.name] : [],
  );
  return new Set(names.filter((name) => name.startsWith('reported-'))).size;
}
