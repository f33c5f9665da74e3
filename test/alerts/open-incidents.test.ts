/**
 * What a receiver that opens and closes incidents, as PagerDuty does, has open once the world rests: those of the
 * targets that are down and that the alert matches. The model knows nothing of how notifications are planned.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isClosing, type Notification } from '../../shared/alerts/alert-state.ts';
import { alertWorld, rulesOf, seen } from './alert-world.ts';

/** By the key of an incident at the receiver: the targets that it is open for. */
class Receiver {
  readonly open = new Map<string, Set<string>>();
  /** Closed for a target that was not said to have recovered. */
  readonly wronged: string[] = [];

  take(notification: Notification): void {
    const { kind, batch, incidents } = notification;
    const names = incidents.map(({ name }) => name);
    const targets = this.open.get(batch) ?? new Set();
    if (kind === 'firing') this.open.set(batch, new Set([...targets, ...names]));
    if (kind !== 'resolved') return;
    for (const name of names) targets.delete(name);
    if (!isClosing(notification)) return;
    this.wronged.push(...targets);
    this.open.delete(batch);
  }

  targets(): readonly string[] {
    return [...this.open.values()].flatMap((targets) => [...targets]).toSorted();
  }
}

const names = ['a', 'b', 'c', 'd'];
const tiers = ['front', 'back'];
const alerts = {
  all: { fields: 'groupBy: [app]', matches: (_: string) => true },
  front: { fields: 'groupBy: [app], match: { labels: "tier=front" }', matches: (tier: string) => tier === 'front' },
  back: { fields: 'groupBy: [app], match: { labels: "tier!=front" }', matches: (tier: string) => tier !== 'front' },
};

const alertNames = Object.keys(alerts) as readonly (keyof typeof alerts)[];
const name = fc.constantFrom(...names);
const action = fc.oneof(
  fc.record({ kind: fc.constant('turn' as const), name, isUp: fc.boolean() }),
  fc.record({ kind: fc.constant('label' as const), name, tier: fc.constantFrom(...tiers) }),
  fc.record({ kind: fc.constant('alert' as const), alert: fc.constantFrom(...alertNames) }),
  fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(1, 2, 6, 30) }),
);

type Action = Parameters<Parameters<typeof action.map>[0]>[0];
const turn = (which: string, isUp: boolean): Action => ({ kind: 'turn', name: which, isUp });
const label = (which: string, tier: string): Action => ({ kind: 'label', name: which, tier });
const pass: Action = { kind: 'pass', seconds: 30 };
/** Two fail together; the first leaves the alert and comes back while it is down, and recovers alone. */
const comesBack: readonly Action[] = [
  ...[{ kind: 'alert' as const, alert: 'front' as const }, turn('a', false), turn('b', false), pass],
  ...[label('a', 'back'), pass, label('a', 'front'), pass, turn('a', true), pass],
];

test('a receiver has open what is down, whatever leaves an alert and comes back', () =>
  fc.assert(
    fc.property(fc.array(action, { maxLength: 24 }), (actions) => {
      const world = alertWorld(rulesOf(alerts.all.fields));
      const receiver = new Receiver();
      const targets = new Map(names.map((each) => [each, { isUp: true, sinceMs: world.nowMs(), tier: 'front' }]));
      let alert: keyof typeof alerts = 'all';
      const hear = (notifications: readonly Notification[]) => {
        for (const each of notifications) receiver.take(each);
      };
      const look = (which: string) => {
        const { isUp = true, sinceMs = 0, tier = '' } = targets.get(which) ?? {};
        hear(world.take(seen(which, isUp ? 'True' : 'False', { sinceMs, labels: { app: 'shop', tier } })));
      };
      for (const each of actions) {
        if (each.kind === 'pass') hear(world.pass(each.seconds));
        else if (each.kind === 'alert') {
          alert = each.alert;
          world.configure(rulesOf(alerts[alert].fields), ['ops']);
          names.forEach(look);
        } else {
          const { kind, name: which, ...changed } = each;
          const before = targets.get(which) ?? { isUp: true, sinceMs: 0, tier: '' };
          const hasTurned = 'isUp' in changed && changed.isUp !== before.isUp;
          targets.set(which, { ...before, ...changed, ...(hasTurned && { sinceMs: world.nowMs() }) });
          look(which);
        }
      }
      hear(world.pass(60));
      const down = names.filter((each) => {
        const { isUp = true, tier = '' } = targets.get(each) ?? {};
        return !isUp && alerts[alert].matches(tier);
      });
      assert.deepEqual(receiver.targets(), down);
      assert.deepEqual(receiver.wronged, []);
    }),
    { numRuns: 2_000, examples: [[[...comesBack]]] },
  ));
