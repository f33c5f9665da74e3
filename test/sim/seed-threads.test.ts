import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { column } from '../support/columns.ts';
import { violationLines } from './report.ts';
import { simulateAll } from './seed-threads.ts';
import type { Outcome } from './simulate.ts';

/** Answers each order with itself; seed 2 takes longest, seed 3 breaks its thread. */
const script = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ seed, hours }) => {
      if (seed === 3) throw new Error('broken');
      setTimeout(() => parentPort.postMessage({ seed, hours, violations: [], problems: [] }), seed === 2 ? 100 : 1);
    });`)}`,
);

const orders = [1, 2, 3, 4, 5].map((seed) => ({ seed, hours: 1 }));

describe('threads of seeds', () => {
  for (const jobs of [1, 2, 5])
    test(`tell what came of each seed in their order, ${jobs} at a time`, async () => {
      const outcomes: Outcome[] = [];
      const progress: number[] = [];
      await simulateAll(orders, {
        jobs,
        script,
        onOutcome: (outcome) => void outcomes.push(outcome),
        onProgress: (done) => void progress.push(done),
      });
      assert.deepEqual(column(outcomes, 'seed'), [1, 2, 3, 4, 5]);
      assert.deepEqual(progress, [1, 2, 3, 4, 5]);
    });

  test('a thread that dies is a problem of its seed alone', async () => {
    const outcomes: Outcome[] = [];
    await simulateAll(orders, { jobs: 1, script, onOutcome: (outcome) => void outcomes.push(outcome) });
    const died = outcomes.map((outcome) => violationLines(outcome).join().includes('broken'));
    assert.deepEqual(died, [false, false, true, false, false]);
  });
});
