/**
 * What alerts hold open after a scan beside which targets turn, are damaged, deleted and registered again, compared
 * with a model that knows only what became of each target.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { alertTargets } from '../../../functions/local/alerts/alert-targets.ts';
import type { Item, Store } from '../../../shared/store/store.ts';
import { alertWorld, rulesOf } from '../../alerts/alert-world.ts';
import { apiWorld } from '../../api/world.ts';
import { targetPath } from '../../support/api-client.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const changes = ['down', 'up', 'late', 'fresh', 'status damaged', 'target damaged', 'repaired', 'replaced', 'deleted'];
type Change = { readonly name: string; readonly change: string };
type Heard = Change & { readonly isHeard: boolean };

const change = fc.record({ name: fc.constantFrom(...names), change: fc.constantFrom(...changes) });
const round = fc.record({
  /** Between two scans; the event of a change may be lost. */
  before: fc.array(fc.record({ change, isHeard: fc.boolean() }), { maxLength: 5 }),
  /** Beside the scan, when it has just read the bucket of this target. */
  during: fc.array(fc.record({ change, after: fc.constantFrom(...names) }), { maxLength: 6 }),
});

type Round = typeof round extends fc.Arbitrary<infer Value> ? Value : never;

type Truth = {
  isThere: boolean;
  incarnation: number;
  isDown: boolean;
  isLate: boolean;
  isStatusDamaged: boolean;
  isTargetDamaged: boolean;
};

/** Which incidents are open, by what is true of each target whenever it is looked at. */
class Model {
  readonly truths = new Map<string, Truth>();
  readonly open = new Map<string, { readonly incarnation: number; readonly isReported: boolean }>();
  readonly #onUnknown: boolean;

  constructor(onUnknown: boolean) {
    this.#onUnknown = onUnknown;
    for (const name of names) this.truths.set(name, { ...fresh, incarnation: 0 });
  }

  truth(name: string): Truth {
    return this.truths.get(name) ?? { ...fresh, incarnation: 0 };
  }

  look(name: string): void {
    const { isThere, incarnation, isDown, isLate, isStatusDamaged, isTargetDamaged } = this.truth(name);
    const before = this.open.get(name);
    const isUnknown = isStatusDamaged || isLate;
    if (!isThere) this.open.delete(name);
    else if (isTargetDamaged) return;
    else if (isUnknown ? this.#onUnknown : isDown)
      this.open.set(name, before?.incarnation === incarnation ? before : { incarnation, isReported: false });
    else if (!isUnknown || !before?.isReported || before.incarnation !== incarnation) this.open.delete(name);
  }

  /** So much time has passed that what is open has been reported. */
  report(): void {
    for (const [name, { incarnation }] of this.open) this.open.set(name, { incarnation, isReported: true });
  }
}

const fresh = { isThere: true, isDown: false, isLate: false, isStatusDamaged: false, isTargetDamaged: false };

const probe = { tcpSocket: { port: 1 }, periodSeconds: 10 };
const body = { spec: { host: '127.0.0.1', readinessProbe: probe } };

/** Targets whose items are written past the engine. */
async function storedTargets(model: Model) {
  const world = apiWorld();
  const itemOf = async (name: string, kind: string): Promise<Item> => {
    const item = await world.itemOf(name, kind);
    assert.ok(item, `${name} has no ${kind}`);
    return item;
  };
  const write = async (name: string) => {
    const { isDown, isLate, isStatusDamaged, isTargetDamaged } = model.truth(name);
    const status = await itemOf(name, 'STATUS');
    const stored = status.status as { readonly conditions: readonly { readonly type: string }[] };
    const ready = { type: 'Ready', status: isDown ? 'False' : 'True', lastTransitionTimeMs: world.clock.nowMs() };
    const conditions = [...stored.conditions.filter(({ type }) => type !== 'Ready'), ready];
    const restartRequests = isStatusDamaged ? 'damaged' : {};
    await world.set(status, {
      version: Number(status.version) + 1,
      status: { ...stored, conditions },
      restartRequests,
    });
    await world.set(await itemOf(name, 'PROBE'), { sinceMs: isLate ? 0 : world.clock.nowMs() });
    await world.set(await itemOf(name, 'TARGET'), { labels: isTargetDamaged ? 'damaged' : {} });
  };
  const register = async (name: string) => {
    await world.expect(201, 'PUT', targetPath(name), body);
    // Nothing is newer than a registration, so all are as old as the test.
    await world.set(await itemOf(name, 'TARGET'), { creationTimestampMs: 0 });
  };
  for (const name of names) await register(name);
  world.advance(3_600_000);
  for (const name of names) await write(name);
  return { world, write, register };
}

/** Returns what there is to write: nothing if the change does not concern the target as it is. */
function become(truth: Truth, change: string): 'written' | 'registered' | 'removed' | undefined {
  if (!truth.isThere && change !== 'replaced') return undefined;
  if (change === 'deleted') {
    truth.isThere = false;
    return 'removed';
  }
  if (change === 'replaced') {
    Object.assign(truth, fresh, { incarnation: truth.incarnation + 1, isDown: truth.isDown });
    return 'registered';
  }
  if (change === 'repaired') Object.assign(truth, { isStatusDamaged: false, isTargetDamaged: false });
  if (change === 'status damaged') truth.isStatusDamaged = true;
  if (change === 'target damaged') truth.isTargetDamaged = true;
  if (change === 'down' || change === 'up') truth.isDown = change === 'down';
  if (change === 'late' || change === 'fresh') truth.isLate = change === 'late';
  return 'written';
}

async function play(onUnknown: boolean, rounds: readonly Round[]): Promise<void> {
  const model = new Model(onUnknown);
  const { world, write, register } = await storedTargets(model);
  const alerts = alertWorld(rulesOf(onUnknown ? 'onUnknown: true' : ''));
  let afterBucket: (pk: string) => Promise<void> = async () => undefined;
  const store: Store = {
    ...world.store,
    query: async (asked) => {
      const items = await world.store.query(asked);
      if (asked.from === undefined) await afterBucket(asked.pk);
      return items;
    },
  };
  const targets = alertTargets((input) => void alerts.take(input), { store, clock: world.clock });
  const apply = async ({ name, change: what, isHeard }: Heard) => {
    const done = become(model.truth(name), what);
    if (!done) return;
    if (done !== 'written') await world.remove(name);
    if (done === 'registered') await register(name);
    if (done !== 'removed') await write(name);
    if (!isHeard) return;
    await targets.look('default', name);
    model.look(name);
  };
  const bucketOf = new Map<string, string>();
  for (const name of names) bucketOf.set(name, (await world.itemOf(name, 'TARGET'))?.pk ?? '');
  for (const { before, during } of rounds) {
    for (const { change: each, isHeard } of before) await apply({ ...each, isHeard });
    // Whether a scan reads what no event reports before it changes once more is chance.
    const unheard = new Set(before.flatMap(({ change: { name }, isHeard }) => (isHeard ? [] : [name])));
    const beside = during.filter(({ change: { name } }) => !unheard.has(name));
    afterBucket = async (pk) => {
      for (const { change: each, after } of beside)
        if (bucketOf.get(after) === pk) await apply({ ...each, isHeard: true });
    };
    await targets.scan();
    for (const name of names) model.look(name);
    const open = Object.values(alerts.state().incidents).map(({ name }) => name);
    assert.deepEqual(open.toSorted(), [...model.open.keys()].toSorted());
    alerts.pass(10);
    model.report();
  }
}

for (const onUnknown of [false, true])
  test(`what a scan reads does not replace what is newer${onUnknown ? ', also with onUnknown' : ''}`, () =>
    fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 4 }), (rounds) => play(onUnknown, rounds)),
      { numRuns: 40 },
    ));

test('what is known of a holder is used for a second, however many targets are looked at', async () => {
  const world = apiWorld();
  for (const name of names) await world.expect(201, 'PUT', targetPath(name), body);
  let reads = 0;
  const store: Store = {
    ...world.store,
    get: (key, options) => {
      if (key.sk === 'EPOCH') reads += 1;
      return world.store.get(key, options);
    },
  };
  let monotonicMs = 0;
  const clock = { ...world.clock, monotonicMs: () => monotonicMs };
  const targets = alertTargets(() => undefined, { store, clock });
  const lookAtAll = async () => {
    for (const name of names) await targets.look('default', name);
  };
  await lookAtAll();
  const once = reads;
  assert.ok(once > 0);
  monotonicMs = 999;
  await lookAtAll();
  assert.equal(reads, once);
  monotonicMs = 1_000;
  await lookAtAll();
  assert.equal(reads, 2 * once);
});
