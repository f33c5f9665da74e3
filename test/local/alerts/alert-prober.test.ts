/**
 * What a receiver has open about the prober itself, compared with what is wrong with it, while problems come and go,
 * writes fail, the shard is lost and alerts are configured. No event is published: what began before an alert was
 * configured, or needs a write to be published, is reported all the same.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { noHolderMs, type ProberView, proberProblems } from '../../../functions/local/alerts/alert-prober.ts';
import { watchedStore } from '../../../functions/local/process/store-health.ts';
import type { AlertRule } from '../../../shared/alerts/alert-rule.ts';
import { isClosing, type Notification } from '../../../shared/alerts/alert-state.ts';
import { StoreUnavailable } from '../../../shared/store/store.ts';
import { alertWorld, rulesOf, startMs } from '../../alerts/alert-world.ts';
import { apiWorld } from '../../api/world.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const patternOf = (reason: string) =>
  `match: { pattern: { detail-type: [Prober Degraded], detail: { reason: [${reason}] } } }`;
const matching: { readonly [alert: string]: { readonly rule: AlertRule; readonly reasons: readonly string[] } } = {
  all: alertOf('all', '', ['NetworkUnreachable', 'Overloaded', 'StoreUnavailable', 'NoHolder']),
  network: alertOf('network', patternOf('NetworkUnreachable'), ['NetworkUnreachable']),
  disk: alertOf('disk', patternOf('StoreUnavailable'), ['StoreUnavailable']),
};

function alertOf(name: string, fields: string, reasons: readonly string[]) {
  const [rule] = rulesOf(fields).map((each) => ({ ...each, name }));
  assert.ok(rule);
  return { rule, reasons };
}

const facts = ['doubt', 'overload', 'store', 'holder'] as const;
const action = fc.oneof(
  fc.record({ kind: fc.constant('fact' as const), fact: fc.constantFrom(...facts), isSo: fc.boolean() }),
  fc.record({ kind: fc.constant('alerts' as const), names: fc.subarray(Object.keys(matching)) }),
  fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(4, 12, 40, 100) }),
);

/** By batch: what is open. */
class Receiver {
  readonly open = new Map<string, readonly string[]>();

  take(notification: Notification): void {
    const { kind, batch, incidents } = notification;
    const about = incidents.map(({ alert, message }) => `${alert} ${message.split(':')[0]}`);
    if (kind === 'firing') this.open.set(batch, about);
    if (kind === 'resolved')
      this.open.set(batch, isClosing(notification) ? [] : without(this.open.get(batch) ?? [], about));
  }

  all(): readonly string[] {
    return [...this.open.values()].flat().toSorted();
  }
}

const without = (all: readonly string[], gone: readonly string[]) => all.filter((each) => !gone.includes(each));

type Truth = { readonly [fact in (typeof facts)[number]]: boolean };

/** Without a holder nothing is known of its beat, and a store that takes no writes is why there is none. */
function wrongNow({ doubt, overload, store, holder }: Truth): readonly string[] {
  if (holder && !store) return ['NoHolder'];
  const beat = holder ? [] : [...(doubt ? ['NetworkUnreachable'] : []), ...(overload ? ['Overloaded'] : [])];
  return [...beat, ...(store ? ['StoreUnavailable'] : [])];
}

async function play(actions: readonly (typeof action extends fc.Arbitrary<infer Value> ? Value : never)[]) {
  const world = alertWorld([]);
  const clock = {
    nowMs: world.nowMs,
    monotonicMs: () => world.nowMs() - startMs,
    setTimer: () => () => undefined,
  };
  let truth: Truth = { doubt: false, overload: false, store: false, holder: false };
  const { store, problem } = watchedStore(
    {
      ...apiWorld().store,
      write: async () => {
        if (truth.store) throw new StoreUnavailable('the disk is full');
        return { kind: 'written' };
      },
    },
    clock,
  );
  const sinceMs = startMs - 3_600_000;
  const view = (): ProberView | undefined => {
    if (truth.holder) return undefined;
    const doubt = truth.doubt && { doubt: { reason: 'NetworkUnreachable', sinceMs } };
    const overload = truth.overload && { overload: { reason: 'Sockets' as const, sinceMs } };
    return { shard: '00', hashRange: '00-ff', beat: { ...doubt, ...overload } };
  };
  const problems = proberProblems({ clock, shard: { view }, storeProblem: problem });
  const receiver = new Receiver();
  let configured: readonly string[] = [];
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 2) {
      await store.write([], { token: 't' }).catch(() => undefined);
      const degraded = problems();
      if (degraded && configured.length > 0)
        for (const each of world.take({ kind: 'prober', degraded })) receiver.take(each);
      for (const each of world.pass(2)) receiver.take(each);
    }
  };
  for (const each of actions) {
    if (each.kind === 'pass') await pass(each.seconds);
    if (each.kind === 'fact') truth = { ...truth, [each.fact]: each.isSo };
    if (each.kind !== 'alerts') continue;
    configured = each.names;
    world.configure(
      each.names.flatMap((name) => matching[name]?.rule ?? []),
      ['ops'],
    );
  }
  await pass(100);
  const expected = configured.flatMap((name) =>
    wrongNow(truth)
      .filter((reason) => matching[name]?.reasons.includes(reason))
      .map((reason) => `${name} ${reason}`),
  );
  assert.deepEqual(receiver.all(), expected.toSorted());
}

test('what is wrong with the prober is open at a receiver for each alert that matches, and nothing else', () =>
  fc.assert(fc.asyncProperty(fc.array(action, { maxLength: 12 }), play), { numRuns: 150 }));

test('a shard that is lost is named as it was held last', () => {
  const clock = virtualClock();
  let held: ProberView | undefined = { shard: '40', hashRange: '40-7f', beat: {} };
  const problems = proberProblems({ clock, shard: { view: () => held }, storeProblem: () => undefined });
  assert.deepEqual(problems(), []);
  held = undefined;
  problems();
  clock.stand(noHolderMs);
  const [lost] = problems() ?? [];
  assert.deepEqual([lost?.problem, lost?.shard, lost?.hashRange], ['holder', '40', '40-7f']);
});

test('a shard that was held in between is lost anew', () => {
  const clock = virtualClock();
  let isHeld = true;
  const view = (): ProberView | undefined => (isHeld ? { shard: '00', hashRange: '00-ff', beat: {} } : undefined);
  const problems = proberProblems({ clock, shard: { view }, storeProblem: () => undefined });
  const seen: (number | undefined)[][] = [];
  for (const [held, waitMs] of [
    [false, noHolderMs],
    [true, 60_000],
    [false, noHolderMs],
  ] as const) {
    isHeld = held;
    const lostMs = clock.nowMs();
    problems();
    clock.stand(waitMs - 1);
    const early = problems();
    clock.stand(1);
    seen.push([early?.length, ...(problems() ?? []).map(({ sinceMs }) => sinceMs - lostMs)]);
  }
  assert.deepEqual(seen, [[undefined, 0], [0], [undefined, 0]]);
});
