import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sourceOf } from '../support/edited-source.ts';
import { problemOf } from './mutants/judge.ts';
import { worldReplacements } from './mutants/mutant-world.ts';
import { mutants } from './mutants/mutants.ts';
import { removals } from './mutants/removals.ts';
import { definitionOf, replaceFunctions } from './mutants/replace-functions.ts';
import { always, inProduct } from './mutants/replacement.ts';
import { editOf } from './start/judge-mutant.ts';
import { startMutants } from './start/mutants.ts';

describe('mutants', () => {
  test('a mutant that nobody has met proves nothing', () => {
    const found = { invariant: 'S1', seed: 1, timeMs: 0, detail: '' };
    assert.match(problemOf({ simulatedHours: 1, calls: { 'a.ts#b': 0 }, found }) ?? '', /never called/);
    assert.equal(problemOf({ simulatedHours: 1, calls: { 'a.ts#b': 1 }, found }), undefined);
  });

  test('a mutant that breaks by itself proves nothing', () => {
    const detail = 'TypeError\n    at file:///test/sim/mutants/removals.ts:1:1';
    const found = { invariant: 'problem', seed: 1, timeMs: 0, detail };
    assert.match(problemOf({ simulatedHours: 1, calls: {}, found }) ?? '', /by itself/);
  });

  test('each names one function of the product, and its world one of the simulator', () => {
    const replacements = [...Object.values(removals), ...mutants.flatMap(({ world }) => worldReplacements(world))];
    for (const replacement of replacements) definitionOf(replacement);
  });

  test('each change of what only npm start has names one place, and tests that are there', () => {
    for (const { change, by } of startMutants) {
      editOf(change);
      if ('tests' in by) for (const path of by.tests) assert.ok(sourceOf(path).length > 0);
    }
  });

  test('a name that no function has, or several have, is refused', () => {
    assert.throws(() => definitionOf(inProduct('noSuchFunction', always(1))), /'noSuchFunction' .* there is none/);
    assert.throws(() => definitionOf(inProduct('handler', always(1))), /#handler, .*#handler/);
  });

  test('a function that is not exported is replaced for the callers in its file', async () => {
    replaceFunctions([inProduct('turnsUntil', always(Number.POSITIVE_INFINITY))]);
    const { mayTurn } = await import('../../shared/core/self/health.ts');
    assert.ok(mayTurn({ turning: 1_000, targets: 1_000, surgeMs: 0, turned: 1_000, periodMs: 1_000 }));
  });

  test('each that is masked has a pair without what masks it', () => {
    const pairs = mutants.filter(({ removed }) => removed.length > 1);
    for (const { name, removed, maskedBy } of mutants) {
      if (maskedBy === undefined) continue;
      const without = pairs.filter((pair) => removed.every((protection) => pair.removed.includes(protection)));
      assert.ok(
        without.some((pair) => pair.removed.some((protection) => protection.includes(maskedBy))),
        name,
      );
    }
  });
});
