/** Wall clocks set by an hour or a day, and back later: of one machine, or of all, as by a wrong time server. */
import type { Chance } from './chance.ts';
import type { Scheduler } from './clock.ts';
import type { Population } from './process.ts';

const hourMs = 3_600_000;
const stepsMs = [hourMs, -hourMs, 24 * hourMs, -24 * hourMs];

type Ports = { readonly scheduler: Scheduler; readonly chance: Chance };

/** Steps the clocks of some processes, and of their later lives, for `ms`; returns their names. */
export function stepClocks({ scheduler, chance }: Ports, { processes }: Population, ms: number): readonly string[] {
  const roles = [...new Set(processes.map(({ role }) => role))];
  const role = chance.pick(roles);
  const stepped = chance.pick([
    processes,
    processes.filter((process) => process.role === role),
    [chance.pick(processes)],
  ]);
  const stepMs = chance.pick(stepsMs);
  for (const process of stepped) process.stepClock(stepMs);
  const setBack = () => {
    for (const process of stepped) process.stepClock(-stepMs);
  };
  scheduler.after(ms, { label: 'clocks are set back', deliver: setBack });
  return stepped.map(({ name }) => name);
}
