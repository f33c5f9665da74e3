/** Some hours of each seed of `npm start`. */
import { simulateStart } from '../sim/start/simulate.ts';
import { printFirstFound } from './simulated-child.ts';

const hours = 2;

await printFirstFound(async (seed) => {
  const [detail] = (await simulateStart({ seed, hours })).violations;
  return detail === undefined ? undefined : { seed, invariant: 'npm start', detail };
});
