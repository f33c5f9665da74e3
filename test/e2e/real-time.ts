/** Every scenario in real time, side by side, against one `npm start`. Ends with `N passed, N failed`. */
import { startRealWorld } from './real-world.ts';
import { playScenario, scenarios } from './scenarios.ts';
import type { Scenario } from './stage.ts';
import type { World } from './world.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

/** true: passed. */
async function play(world: World, scenario: Scenario): Promise<boolean> {
  const startedMs = performance.now();
  const outcome = await playScenario(world, scenario).then(
    () => 'ok',
    (error: unknown) => `FAILED: ${error instanceof Error ? error.message : String(error)}`,
  );
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  say(`${outcome === 'ok' ? 'ok    ' : 'FAILED'} ${seconds.padStart(4)} s  ${scenario.name}`);
  if (outcome !== 'ok') say(`       ${outcome}`);
  return outcome === 'ok';
}

const world = await startRealWorld();
const results = await Promise.all(scenarios.map((scenario) => play(world, scenario)));
await world.stop();
const passed = results.filter(Boolean).length;
say(`${passed} passed, ${results.length - passed} failed`);
process.exitCode = passed === results.length ? 0 : 1;
