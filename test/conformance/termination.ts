/**
 * termination.jsonl: what is probed, published and shown of a pod that is deleted. The product has to do what was
 * recorded, or exactly what the numbered differences make of it.
 */
import { isDeepStrictEqual } from 'node:util';
import { compare } from './compare.ts';
import type { Finding, VectorRunner } from './runner.ts';
import { differences, terminationExpectation } from './termination-expected.ts';
import type { Seen, TerminationVector } from './termination-vector.ts';
import { terminationWorld } from './termination-world.ts';

const numbers: readonly number[] = Object.values(differences);

export const runTermination: VectorRunner = async (given): Promise<Finding> => {
  const vector = given as unknown as TerminationVector;
  const expectedWith = (applied: readonly number[]): readonly Seen[] => {
    const expectation = terminationExpectation(vector, new Set(applied));
    return vector.ops.map((op) => expectation.after(op));
  };
  const expected = expectedWith(numbers);
  const world = await terminationWorld(vector);
  for (const [index, op] of vector.ops.entries()) {
    const different = compare(`op ${index} (${op.op})`, await world.play(op), expected[index]);
    if (different) return different;
  }
  const rules = numbers.filter((number) => !isDeepStrictEqual(expectedWith(without(number)), expected));
  return rules.length > 0 ? { kind: 'byRule', rules } : undefined;
};

const without = (number: number): readonly number[] => numbers.filter((other) => other !== number);
