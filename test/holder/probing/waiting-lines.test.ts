import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BacklogClass } from '../../../shared/core/self/sockets.ts';
import { waitingLines } from '../../../shared/holder/probing/flights.ts';
import { heldTargetOf, workerOf } from '../../support/held-workers.ts';

/** How long a probe with a time-out of a second took that is of the class. A new one has not run. */
const tookMs: { readonly [backlogClass in BacklogClass]: number | undefined } = {
  new: undefined,
  steady: 1,
  hanging: 1_000,
};

/** Lines for sockets of which there are enough, and what may wait in them. */
function lineWorld() {
  const lines = waitingLines({ hasFor: () => true });
  const waiting = (name: string, backlogClass: BacklogClass = 'steady') => {
    const worker = workerOf(heldTargetOf(name), name);
    const durationMs = tookMs[backlogClass];
    if (durationMs !== undefined) worker.classify(durationMs);
    assert.equal(worker.backlogClass, backlogClass);
    return { worker, join: () => lines.join(worker) };
  };
  const begin = () => {
    const next = lines.next();
    if (next) lines.leave(next);
    return next?.held.target.name;
  };
  return { lines, waiting, begin };
}

test('a probe that waits keeps its position when it becomes due again', () => {
  const { waiting, begin } = lineWorld();
  const [steady, fresh] = [waiting('a', 'steady'), waiting('b', 'new')];
  for (const { join } of [fresh, steady, fresh, fresh]) join();
  assert.deepEqual([begin(), begin(), begin()], ['b', 'a', undefined]);
});

test('what hangs comes last, and what is not to be probed any more does not come', () => {
  const { lines, waiting, begin } = lineWorld();
  const [hanging, ended, gone, steady] = [waiting('h', 'hanging'), waiting('e'), waiting('g'), waiting('s')];
  for (const { join } of [hanging, ended, gone, steady]) join();
  ended.worker.held.workers.clear();
  gone.worker.held.gone = true;
  assert.deepEqual([lines.hasBefore('hanging'), lines.hasBefore('steady')], [true, true]);
  assert.equal(begin(), 's');
  assert.deepEqual([lines.hasBefore('hanging'), lines.hasBefore('steady')], [true, false]);
  assert.deepEqual([begin(), lines.isEmpty()], ['h', true]);
});
