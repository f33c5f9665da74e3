/** Every scenario in real time, side by side, against one `npm start`. Ends with `N passed, N failed`. */
import { tallyOf } from '../support/tally.ts';
import { startRealWorld } from './real-world.ts';
import { playScenario, scenarios } from './scenarios.ts';
import type { Scenario } from './stage.ts';
import type { World } from './world.ts';

const { verdict, end } = tallyOf();

async function play(world: World, scenario: Scenario): Promise<void> {
  const startedMs = performance.now();
  const faults = await playScenario(world, scenario).then(
    () => [],
    (error: unknown) => [error instanceof Error ? error.message : String(error)],
  );
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  verdict(`${seconds.padStart(4)} s  ${scenario.name}`, faults);
}

const world = await startRealWorld();
await Promise.all(scenarios.map((scenario) => play(world, scenario)));
await world.stop();
end();
