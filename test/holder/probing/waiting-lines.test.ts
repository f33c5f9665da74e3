import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BacklogClass } from '../../../shared/core/self/sockets.ts';
import { waitingLines } from '../../../shared/holder/probing/flights.ts';
import type { HeldProbe, HeldTarget } from '../../../shared/holder/probing/held.ts';
import { tcpProbe } from '../../support/pods.ts';

/** Lines for sockets of which there are enough, and what may wait in them. */
function lineWorld() {
  const lines = waitingLines({ hasFor: () => true });
  const waiting = (name: string, backlogClass: BacklogClass = 'steady') => {
    const probe = {
      name,
      schedule: { backlogClass, inFlight: false },
      spec: { probe: tcpProbe },
    } as unknown as HeldProbe;
    const held = { gone: false, probes: new Map([[probe.name, probe]]) } as unknown as HeldTarget;
    return { held, probe, join: () => lines.join(held, probe) };
  };
  const begin = () => {
    const next = lines.next();
    if (next) lines.leave(next.probe);
    return next?.probe.name;
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
  ended.held.probes.clear();
  gone.held.gone = true;
  assert.deepEqual([lines.hasBefore('hanging'), lines.hasBefore('steady')], [true, true]);
  assert.equal(begin(), 's');
  assert.deepEqual([lines.hasBefore('hanging'), lines.hasBefore('steady')], [true, false]);
  assert.deepEqual([begin(), lines.isEmpty()], ['h', true]);
});
