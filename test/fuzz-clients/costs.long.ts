/**
 * The costliest bodies, each in one turn of the event loop. Measured in CPU time of this thread, so that a busy machine
 * changes little, and compared with a piece of work that is the same everywhere.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costlyBodies } from './bodies.ts';
import { bodyCosts } from './costs.ts';
import { longestTurn } from './longest-turn.ts';

const turnMsMax = 20;
/** What the reference takes on the machine for which the limit is meant. */
const referenceMs = 9;

/** Parses and prints a text of many values. */
const reference = async (): Promise<void> => {
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => ({ [`key-${at}`]: at })));
  JSON.parse(text);
};

test('no body holds the event loop for more than its part', async () => {
  const references: number[] = [];
  for (let run = 0; run < 5; run += 1) references.push((await longestTurn(reference)).ms);
  const slowness = Math.max(1, Math.min(...references) / referenceMs);
  const costs = await bodyCosts(costlyBodies, () => undefined);
  const limit = turnMsMax * slowness;
  const above = costs.filter(({ ms }) => ms > limit).map(({ name, ms }) => `${ms.toFixed(1)} ms: ${name}`);
  assert.deepEqual(above, [], `the limit is ${limit.toFixed(1)} ms`);
  assert.ok(costs.length > 100, `${costs.length} bodies`);
});
