/**
 * manager.jsonl: which workers exist after add, stop, remove and clean-up; every probe succeeds at once. The product
 * has to do what was recorded, or exactly what the numbered differences make of it.
 */
import { isDeepStrictEqual } from 'node:util';
import { compare } from './compare.ts';
import { differences, managerModel } from './manager-model.ts';
import type { Observed, Op } from './manager-vector.ts';
import { managerWorld } from './manager-world.ts';
import type { Finding, VectorRunner } from './runner.ts';

const numbers: readonly number[] = Object.values(differences);

export const runManager: VectorRunner = async (vector): Promise<Finding> => {
  const ops = vector.ops as readonly (Op & { readonly expect: Observed })[];
  const world = managerWorld();
  const startMs = world.nowMs();
  const recorded = managerModel(startMs, new Set());
  const different = differenceIn(
    ops,
    ops.map((op) => recorded.after(op)),
    (at) => ops[at]?.expect,
  );
  if (different) return `without differences: ${different}`;
  const seen: Observed[] = [];
  const settledMs: number[] = [];
  for (const op of ops) {
    await apply(world, op);
    seen.push(await world.observed());
    settledMs.push(world.nowMs());
  }
  const expectedWith = (applied: readonly number[]) => {
    const model = managerModel(startMs, new Set(applied));
    return ops.map((op, at) => model.after(op, settledMs[at]));
  };
  const expected = expectedWith(numbers);
  const otherwise = differenceIn(ops, seen, (at) => expected[at]);
  if (otherwise) return otherwise;
  const rules = numbers.filter((number) => !isDeepStrictEqual(expectedWith(without(number)), expected));
  return rules.length > 0 ? { kind: 'byRule', rules } : undefined;
};

const without = (number: number): readonly number[] => numbers.filter((other) => other !== number);

function differenceIn(
  ops: readonly Op[],
  actual: readonly Observed[],
  expectedAt: (at: number) => Observed | undefined,
): string | undefined {
  for (const [at, { op }] of ops.entries()) {
    const different = compare(`op ${at} (${op})`, actual[at], expectedAt(at));
    if (different) return different;
  }
  return undefined;
}

function apply(world: ReturnType<typeof managerWorld>, op: Op): Promise<void> {
  switch (op.op) {
    case 'addPod':
      return world.addPod(op.pod);
    case 'removePod':
      return world.removePod(op.podUID);
    case 'stopLivenessAndStartup':
      return world.stopLivenessAndStartup(op.podUID);
    case 'cleanupPods':
      return world.cleanupPods(new Set(op.desired));
    case 'setPhase':
      return world.setPhase(op.podUID, op.phase);
    case 'advance':
      return world.advance(op.seconds);
  }
}
