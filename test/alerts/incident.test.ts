/** When a notification is sent, and when not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type AlertState, noAlerts } from '../../shared/alerts/alert-state.ts';
import { groupWindowMs } from '../../shared/alerts/batches.ts';
import { incidentsMax, planAlerts } from '../../shared/alerts/incident.ts';
import type { AlertInput } from '../../shared/alerts/seen.ts';
import { alertWorld, kindsOf, rulesOf, seen, startMs } from './alert-world.ts';

const windowSeconds = groupWindowMs / 1_000;

describe('an alert', () => {
  test('is sent once the target has been not ready for so long, and not before', () => {
    const world = alertWorld(rulesOf('for: 30s'));
    world.take(seen('a', 'False'));
    assert.deepEqual(kindsOf(world.pass(29 + windowSeconds)), []);
    assert.deepEqual(kindsOf(world.pass(1)), ['firing a']);
    assert.deepEqual(kindsOf(world.pass(600)), []);
  });

  test('waits and reminds within these bounds', () => {
    assert.throws(() => rulesOf('for: 721h'), /must be a duration of at most 720h/);
    assert.throws(() => rulesOf('for: soon'), /must be a duration of at most 720h/);
    assert.throws(() => rulesOf('remind: 9s'), /must be at least 10s/);
    assert.equal(rulesOf('for: 720h, remind: 10s').length, 1);
  });

  test('is not sent for a target that is ready again in time', () => {
    const world = alertWorld(rulesOf('for: 30s'));
    world.take(seen('a', 'False'));
    world.pass(20);
    world.take(seen('a', 'True'));
    assert.deepEqual(kindsOf(world.pass(60)), []);
    assert.deepEqual(world.state().incidents, {});
  });

  test('is not sent for a target that is ready again before its batch is reported', () => {
    const world = alertWorld(rulesOf(''));
    world.take(seen('a', 'False'));
    assert.deepEqual(kindsOf(world.pass(windowSeconds - 1)), []);
    world.take(seen('a', 'True'));
    assert.deepEqual(kindsOf(world.pass(60)), []);
    assert.deepEqual(world.state(), { incidents: {}, batches: {} });
  });

  test('counts from when the target became not ready, also if that was seen late', () => {
    const world = alertWorld(rulesOf('for: 30s'));
    world.take(seen('a', 'False', { sinceMs: startMs - 3_600_000 }));
    assert.deepEqual(kindsOf(world.pass(windowSeconds)), ['firing a']);
  });

  test('ends with one notification, whose id and batch are stable', () => {
    const world = alertWorld(rulesOf(''));
    world.take(seen('a', 'False'));
    const [firing] = world.pass(windowSeconds);
    world.take(seen('a', 'True'));
    const [resolved, ...more] = world.pass(60);
    assert.equal(resolved?.kind, 'resolved');
    assert.equal(resolved?.remaining, 0);
    assert.equal(resolved?.batch, firing?.batch);
    assert.notEqual(resolved?.id, firing?.id);
    assert.deepEqual(more, []);
    assert.deepEqual(world.state(), { incidents: {}, batches: {} });
  });

  test('does not say that it has ended with sendResolved: false', () => {
    const world = alertWorld(rulesOf('sendResolved: false'));
    world.take(seen('a', 'False'));
    world.pass(windowSeconds);
    world.take(seen('a', 'True'));
    assert.deepEqual(kindsOf(world.pass(60)), []);
    assert.deepEqual(world.state().batches, {});
  });

  test('is repeated at its interval while it lasts', () => {
    const world = alertWorld(rulesOf('remind: 1m'));
    world.take(seen('a', 'False'));
    world.pass(windowSeconds);
    assert.deepEqual(kindsOf(world.pass(59)), []);
    const reminders = world.pass(61);
    assert.deepEqual(kindsOf(reminders), ['reminder a', 'reminder a']);
    assert.equal(new Set(reminders.map(({ id }) => id)).size, 2);
  });

  test('ends when its target is deleted', () => {
    const world = alertWorld(rulesOf(''));
    world.take(seen('a', 'False'));
    world.pass(windowSeconds);
    world.take({ kind: 'gone', namespace: 'default', name: 'a' });
    assert.deepEqual(kindsOf(world.pass(windowSeconds)), ['resolved a']);
  });

  test('ends, and another begins, when the target is registered again', () => {
    const world = alertWorld(rulesOf(''));
    world.take(seen('a', 'False'));
    const [first] = world.pass(windowSeconds);
    world.take(seen('a', 'False', { uid: 'another' }));
    const [one, two] = world.pass(windowSeconds + 1);
    assert.deepEqual(new Set([one?.kind, two?.kind]), new Set(['resolved', 'firing']));
    assert.notEqual([one, two].find((each) => each?.kind === 'firing')?.batch, first?.batch);
  });
});

describe('Ready=Unknown', () => {
  test('begins nothing and ends nothing, and no reminder is sent', () => {
    const world = alertWorld(rulesOf('remind: 1m'));
    world.take(seen('a', 'Unknown'));
    assert.deepEqual(kindsOf(world.pass(60)), []);
    world.take(seen('b', 'False'));
    assert.deepEqual(kindsOf(world.pass(windowSeconds)), ['firing b']);
    world.take(seen('b', 'Unknown'));
    assert.deepEqual(kindsOf(world.pass(300)), []);
    world.take(seen('b', 'True'));
    assert.deepEqual(kindsOf(world.pass(windowSeconds)), ['resolved b']);
  });

  test('interrupts the wait for the duration', () => {
    const world = alertWorld(rulesOf('for: 30s'));
    world.take(seen('a', 'False'));
    world.pass(20);
    world.take(seen('a', 'Unknown'));
    assert.deepEqual(kindsOf(world.pass(60)), []);
  });

  test('is a problem with onUnknown: true', () => {
    const world = alertWorld(rulesOf('onUnknown: true'));
    world.take(seen('a', 'Unknown'));
    assert.deepEqual(kindsOf(world.pass(windowSeconds)), ['firing a']);
  });
});

describe('a match', () => {
  const matched = (fields: string, target: ReturnType<typeof seen>) => {
    const world = alertWorld(rulesOf(fields));
    world.take(target);
    return world.pass(windowSeconds).length === 1;
  };

  test('by namespaces', () => {
    assert.ok(matched('match: { namespaces: [default] }', seen('a', 'False')));
    assert.ok(!matched('match: { namespaces: [other] }', seen('a', 'False')));
  });
  test('by labels', () => {
    const target = seen('a', 'False', { labels: { tier: 'front' } });
    assert.ok(matched('match: { labels: "tier in (front, back)" }', target));
    assert.ok(!matched('match: { labels: "tier!=front" }', target));
  });
  test('by an event pattern', () => {
    assert.ok(matched('match: { pattern: { detail: { target: { name: [{ prefix: a }] } } } }', seen('a', 'False')));
    assert.ok(!matched('match: { pattern: { detail: { target: { name: [b] } } } }', seen('a', 'False')));
  });
});

describe('a group', () => {
  test('is the namespace and the values of the labels, and shares one notification', () => {
    const world = alertWorld(rulesOf('groupBy: [app]'));
    const of = (app: string) => ({ labels: { app } });
    world.take(seen('a', 'False', of('x')), seen('b', 'False', of('x')), seen('c', 'False', of('y')));
    world.take(seen('d', 'False', { namespace: 'other', ...of('x') }));
    assert.deepEqual(kindsOf(world.pass(windowSeconds)).toSorted(), ['firing a+b', 'firing c', 'firing d']);
  });

  test('takes a label that a target lacks for empty, whatever every object inherits', () => {
    for (const label of ['constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
      const world = alertWorld(rulesOf(`groupBy: [${label}]`));
      world.take(seen('a', 'False'));
      const incidents = Object.values(world.state().incidents);
      assert.deepEqual(
        incidents.map(({ groupLabels }) => groupLabels),
        [{ [label]: '' }],
      );
    }
  });

  test('gathers what begins within its window; later incidents have a batch of their own', () => {
    const world = alertWorld(rulesOf(''));
    world.take(seen('a', 'False'));
    world.pass(windowSeconds - 1);
    world.take(seen('b', 'False'));
    assert.deepEqual(kindsOf(world.pass(1)), ['firing a+b']);
    world.take(seen('c', 'False'));
    assert.deepEqual(kindsOf(world.pass(windowSeconds)), ['firing c']);
  });

  test('reports ends together, and how many last', () => {
    const world = alertWorld(rulesOf(''));
    world.take(seen('a', 'False'), seen('b', 'False'), seen('c', 'False'));
    world.pass(windowSeconds);
    world.take(seen('a', 'True'), seen('b', 'True'));
    const [partly] = world.pass(windowSeconds + 1);
    assert.deepEqual([partly?.incidents.length, partly?.remaining], [2, 1]);
    world.take(seen('c', 'True'));
    assert.deepEqual(
      world.pass(windowSeconds + 1).map(({ remaining }) => remaining),
      [0],
    );
  });
});

describe('a silence', () => {
  const until = new Date(startMs + 60_000).toISOString();
  const rules = rulesOf(`silences: [{ match: { names: [a] }, until: "${until}", reason: upgrade }]`);

  test('holds the alert back until its end, and sends it then if the problem lasts', () => {
    const world = alertWorld(rules);
    world.take(seen('a', 'False'), seen('b', 'False'));
    assert.deepEqual(kindsOf(world.pass(59)), ['firing b']);
    assert.deepEqual(kindsOf(world.pass(1 + windowSeconds)), ['firing a']);
  });

  describe('that has a start', () => {
    const from = new Date(startMs + 30_000).toISOString();
    const later = rulesOf(`for: 20s, silences: [{ match: {}, from: "${from}", until: "${until}", reason: upgrade }]`);

    test('does not hold back what is due before it', () => {
      const world = alertWorld(later);
      world.take(seen('a', 'False'));
      assert.deepEqual(kindsOf(world.pass(20 + windowSeconds)), ['firing a']);
    });

    test('holds back what is due in it, although the problem began before', () => {
      const world = alertWorld(later);
      world.pass(15);
      world.take(seen('a', 'False', { sinceMs: world.nowMs() }));
      assert.deepEqual(kindsOf(world.pass(44)), []);
      assert.deepEqual(kindsOf(world.pass(1 + windowSeconds)), ['firing a']);
    });
  });

  test('of two, the later one counts once the earlier one has ended', () => {
    const [first, second] = [20, 60].map((seconds) => new Date(startMs + seconds * 1_000).toISOString());
    const silences = `silences: [{ match: {}, until: "${first}", reason: a }, { match: {}, from: "${first}", until: "${second}", reason: b }]`;
    const world = alertWorld(rulesOf(silences));
    world.take(seen('a', 'False'));
    assert.deepEqual(kindsOf(world.pass(59)), []);
    assert.deepEqual(kindsOf(world.pass(1 + windowSeconds)), ['firing a']);
  });

  test('hides a problem that ends before it', () => {
    const world = alertWorld(rules);
    world.take(seen('a', 'False'));
    world.pass(30);
    world.take(seen('a', 'True'));
    assert.deepEqual(kindsOf(world.pass(120)), []);
  });
});

describe('other causes', () => {
  test('a restart request is an incident of its own', () => {
    const world = alertWorld(rulesOf(''));
    const restart = { sinceMs: startMs, message: 'Container app failed liveness probe, restart requested', event: {} };
    world.take(seen('a', 'True', { restart }));
    const [firing] = world.pass(windowSeconds);
    assert.equal(firing?.incidents[0]?.cause, 'RestartRequested');
    world.take(seen('a', 'True'));
    assert.deepEqual(kindsOf(world.pass(windowSeconds)), ['resolved a']);
  });

  test('a degraded prober alerts once for each alert, whatever the number of targets, and ends', () => {
    const world = alertWorld(rulesOf('', '  - { name: second, notify: [ops] }\n'));
    const range = { problem: 'doubt', shard: '00', hashRange: '00-ff', reason: 'ResolverUnavailable' } as const;
    world.take({ kind: 'prober', degraded: [{ ...range, sinceMs: startMs }] });
    world.take(...Array.from({ length: 20 }, (_, index) => seen(`t${index}`, 'Unknown')));
    assert.deepEqual(kindsOf(world.pass(60)), ['firing 00-ff', 'firing 00-ff']);
    world.configure(rulesOf(''), ['ops']);
    assert.deepEqual(kindsOf(world.pass(60)), ['resolved 00-ff']);
    world.take({ kind: 'prober', degraded: [] });
    assert.deepEqual(kindsOf(world.pass(60)), ['resolved 00-ff']);
  });
});

describe('a scan', () => {
  test('ends incidents whose target has no problem any more', () => {
    const world = alertWorld(rulesOf(''));
    world.take(seen('old', 'False'), seen('lasting', 'False'));
    world.pass(120);
    world.take(seen('young', 'False', { sinceMs: world.nowMs() }));
    world.take({ kind: 'scanned', spared: new Set(['default/lasting', 'default/young']) });
    assert.deepEqual(kindsOf(world.pass(windowSeconds)).toSorted(), ['firing young', 'resolved old']);
  });

  test('of an unchanged world changes nothing', () => {
    const world = alertWorld(rulesOf(''));
    world.take(seen('a', 'False'));
    world.pass(windowSeconds);
    const before = world.state();
    assert.deepEqual(world.take(seen('a', 'False')), []);
    assert.deepEqual(world.state(), before);
  });
});

describe('too many incidents', () => {
  const all = Array.from({ length: incidentsMax + 5 }, (_, index) => seen(`t${index}`, 'False'));

  test('are said to be too many, once, and the state stays bounded', () => {
    const world = alertWorld(rulesOf(''));
    assert.deepEqual(kindsOf(world.take(...all)), ['overflow ']);
    assert.equal(Object.keys(world.state().incidents).length, incidentsMax);
    const reported = world.pass(windowSeconds).flatMap(({ incidents }) => incidents);
    assert.equal(reported.length, incidentsMax);
  });

  test('of some namespaces leave room for those of another one', () => {
    for (let namespaces = 1; namespaces <= 5; namespaces += 1) {
      const world = alertWorld(rulesOf(''));
      for (let at = 0; at < namespaces; at += 1)
        world.take(...all.map((target) => ({ ...target, namespace: `crowd-${at}` })));
      world.take({ ...seen('alone', 'False'), namespace: 'other' });
      const reported = world.pass(windowSeconds).flatMap(({ incidents }) => incidents);
      assert.ok(
        reported.some(({ name }) => name === 'alone'),
        `${namespaces} namespaces with too many keep another one's from being reported`,
      );
      assert.ok(reported.length <= 2 * incidentsMax, `${reported.length} incidents are kept`);
    }
  });

  test('leave room for those of the prober, and what has ended makes room again', () => {
    const world = alertWorld(rulesOf(''));
    world.take(...all);
    world.take({
      kind: 'prober',
      degraded: [
        { shard: 'all', hashRange: 'all', problem: 'store', reason: 'StoreUnavailable', sinceMs: world.nowMs() },
      ],
    });
    const causes = world.pass(windowSeconds).flatMap(({ incidents }) => incidents.map(({ cause }) => cause));
    assert.ok(causes.includes('ProberDegraded'));
    for (let turn = 0; turn < 3; turn += 1) {
      world.take(...all.map((target) => ({ ...target, ready: 'True' as const })));
      world.take(...all);
      assert.equal(Object.keys(world.state().incidents).length, incidentsMax + 1);
    }
  });

  test('have an end that is reported, and the refused ones get their turn', () => {
    const world = alertWorld(rulesOf(''));
    world.take(...all);
    world.pass(windowSeconds);
    world.take(...all.slice(0, incidentsMax).map((target) => ({ ...target, ready: 'True' as const })));
    const spared = new Set(all.slice(incidentsMax).map(({ name }) => `default/${name}`));
    const scan = () => world.take(...all.slice(incidentsMax), { kind: 'scanned', spared });
    assert.deepEqual(
      kindsOf(scan()).filter((kind) => kind.startsWith('overflow')),
      [],
    );
    assert.deepEqual(kindsOf(scan()), ['overflowEnded ']);
    assert.equal(
      world
        .pass(windowSeconds)
        .filter(({ kind }) => kind === 'firing')
        .flatMap(({ incidents }) => incidents).length,
      5,
    );
  });
});

test('what changes nothing leaves the state as it is, so that nothing has to be kept again', () => {
  const options = { rules: rulesOf(''), receivers: ['ops'] };
  const time = { wallMs: startMs, steadyMs: startMs, steadyOf: (wallMs: number) => wallMs };
  const after = (state: AlertState, ...inputs: readonly AlertInput[]) =>
    planAlerts(state, { ...options, inputs }, time).state;
  const open = after(noAlerts, seen('a', 'False'));
  const full: AlertState = { ...open, overflow: { id: 'o', sinceMs: startMs, refused: 1 } };
  const scan: AlertInput = { kind: 'scanned', spared: new Set(['default/a']) };
  assert.equal(after(noAlerts, seen('b', 'True'), scan), noAlerts);
  for (const state of [open, full]) assert.equal(after(state, seen('a', 'False'), seen('b', 'True')), state);
  assert.equal(after(open, scan), open);
  assert.notEqual(after(full, scan), full);
  assert.notEqual(after(open, seen('c', 'False')), open);
});
