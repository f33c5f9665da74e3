import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlertState } from '../../shared/alerts/alert-state.ts';
import { groupWindowMs } from '../../shared/alerts/batches.ts';
import { continued } from '../../shared/alerts/kept-alerts.ts';
import { alertWorld, rulesOf, seen, startMs } from './alert-world.ts';

test('a clock that was set back while no process ran delays nothing by more than a window', () => {
  const hourMs = 3_600_000;
  const world = alertWorld(rulesOf(''));
  world.take(seen('a', 'False'));
  const wallMs = startMs - hourMs;
  const kept: AlertState = continued(world.state(), {
    wallMs,
    steadyMs: wallMs,
    steadyOf: (ms) => Math.min(ms, wallMs),
  });
  const [incident] = Object.values(kept.incidents);
  const [batch] = Object.values(kept.batches);
  assert.equal(incident?.beganMs, wallMs);
  assert.equal(batch?.reportAtMs, wallMs + groupWindowMs);
});
