import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pacer } from '../../shared/lib/slices.ts';
import { virtualClock } from '../support/virtual-clock.ts';

test('work gives way after each slice, and not before', async () => {
  const clock = virtualClock();
  const pace = pacer(clock, 5);
  let turns = 0;
  const turn = () => {
    turns += 1;
    clock.setTimer(0, turn);
  };
  clock.setTimer(0, turn);
  const piecesBetween: number[] = [];
  const work = async () => {
    let turnsBefore = turns;
    let pieces = 0;
    for (let piece = 0; piece < 100; piece += 1) {
      await pace();
      if (turns > turnsBefore) {
        piecesBetween.push(pieces);
        pieces = 0;
        turnsBefore = turns;
      }
      clock.stand(1);
      pieces += 1;
    }
  };
  await clock.runUntil(work());
  assert.ok(piecesBetween.length >= 19, `${piecesBetween.length} pauses`);
  assert.ok(Math.max(...piecesBetween) <= 5, `pieces between two pauses: ${piecesBetween.join(', ')}`);
});
