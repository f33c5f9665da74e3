/** What is kept of alerts reads as it was written, at the limits of its values too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeKept, type KeptAlerts, keptText } from '../../shared/alerts/kept-alerts.ts';
import { alertWorld, rulesOf, sampleNotification, seen } from './alert-world.ts';

/** Alerts with an incident that is reported, and a notification that has just been queued. */
function keptAlerts(): KeptAlerts {
  const world = alertWorld(rulesOf(''));
  world.take(seen('checkout', 'False'));
  world.pass(600);
  const notification = sampleNotification({ atMs: 0, remaining: 0 }, { sinceMs: 0 });
  return { version: 1, state: world.state(), outbox: { ops: [{ notification, queuedMs: 0, ageMs: 0, attempts: 0 }] } };
}

test('what was kept is read as it was', () => {
  const kept = keptAlerts();
  assert.ok(JSON.stringify(kept.state).includes('checkout'));
  assert.deepEqual(decodeKept([...keptText(kept)].join('')), { kept, problems: [] });
});

test('a notification that cannot have been is left out, and named', () => {
  const { outbox, ...kept } = keptAlerts();
  const [queued] = outbox.ops ?? [];
  for (const wrong of [{ queuedMs: -1 }, { ageMs: -1 }, { attempts: 0.5 }, { attempts: -1 }]) {
    const text = [...keptText({ ...kept, outbox: { ops: [{ ...queued, ...wrong }] } as KeptAlerts['outbox'] })].join(
      '',
    );
    const decoded = decodeKept(text);
    assert.deepEqual(decoded?.kept.outbox.ops ?? [], []);
    const [problem = ''] = decoded?.problems ?? [];
    assert.ok(problem.includes(Object.keys(wrong)[0] ?? '?'), problem);
  }
});
