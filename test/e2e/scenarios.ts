/** Every scenario, for a regular container and for a sidecar. */
import { graceScenarios } from './scenarios/grace.ts';
import { grpcScenarios } from './scenarios/grpc.ts';
import { livenessScenarios } from './scenarios/liveness.ts';
import { manyScenario } from './scenarios/many.ts';
import { readinessScenarios } from './scenarios/readiness.ts';
import { startupScenarios } from './scenarios/startup.ts';
import { staticScenarios } from './scenarios/static.ts';
import { terminationScenarios } from './scenarios/termination.ts';
import { openStage, type Place, type Scenario } from './stage.ts';
import type { World } from './world.ts';

const ofPlace = (place: Place): readonly Scenario[] =>
  [
    readinessScenarios,
    livenessScenarios,
    startupScenarios,
    graceScenarios,
    grpcScenarios,
    terminationScenarios,
    staticScenarios,
  ]
    .flatMap((scenarios) => scenarios(place))
    .map((scenario) => ({ ...scenario, name: `${place}: ${scenario.name}` }));

export const scenarios: readonly Scenario[] = [...ofPlace('container'), ...ofPlace('sidecar'), manyScenario];

/** Plays one scenario in the world; its target is called after its number. */
export async function playScenario(world: World, scenario: Scenario): Promise<void> {
  const stage = openStage(world, `scenario-${scenarios.indexOf(scenario)}`);
  try {
    await scenario.run(stage);
  } finally {
    await stage.close();
  }
}
