import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from './mutants/judge.ts';
import { type Mutant, mutants } from './mutants/mutants.ts';
import { runTrial } from './mutants/run-trial.ts';

function mutantOf(wanted: string): Mutant {
  const mutant = mutants.find(({ name }) => name === wanted);
  assert.ok(mutant, wanted);
  return mutant;
}

test('the mutant of a status that is written without its version kills itself', async () => {
  const { passed, killedBy } = await judge(mutantOf('no version order (status)'));
  assert.ok(passed);
  assert.match(killedBy?.invariant ?? '', /S5/);
});

/** In its world the mutant violates the invariant, and the product none. */
const differs = (behaviour: string, mutant: string, invariant: RegExp) =>
  test(behaviour, async () => {
    const { name, removed, hours } = mutantOf(mutant);
    const tried = (without: Mutant['removed']) => runTrial({ mutant: name, removed: without, seeds: [1], hours });
    const [mutated, control] = await Promise.all([tried(removed), tried([])]);
    assert.ok(typeof mutated !== 'string' && typeof control !== 'string');
    assert.match(mutated.found?.invariant ?? '', invariant);
    assert.equal(control.found, undefined);
  });

differs(
  'a prober without canaries takes its own loss of the network for a failure, and one with canaries does not',
  'no canary',
  /S4/,
);
differs('a look asks what is on hold unless it asks only what a worker would', 'looks whatever the gate says', /S8/);
