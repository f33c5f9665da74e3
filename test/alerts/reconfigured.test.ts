/** What becomes of open incidents when alerts or receivers are no longer configured, are back, or have other names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupWindowMs } from '../../shared/alerts/batches.ts';
import { alertWorld, kindsOf, rulesOf, seen } from './alert-world.ts';

const windowSeconds = groupWindowMs / 1_000;
const renamed = () => rulesOf('').map((rule) => ({ ...rule, receivers: ['on-call'] }));

function firingWorld(fields = '') {
  const world = alertWorld(rulesOf(fields));
  world.take(seen('a', 'False'));
  const [firing] = world.pass(windowSeconds);
  assert.equal(firing?.kind, 'firing');
  return { world, firing };
}

test('incidents of an alert that is gone end, and its receivers learn of it', () => {
  const { world, firing } = firingWorld();
  world.configure([], ['ops']);
  const ended = world.pass(windowSeconds + 1);
  assert.deepEqual(kindsOf(ended), ['resolved a']);
  assert.deepEqual([ended[0]?.batch, ended[0]?.receivers], [firing.batch, ['ops']]);
  assert.deepEqual(world.state(), { incidents: {}, batches: {} });
});

test('an alert that is back reports what still lasts, by a notification of its own id', () => {
  const { world, firing } = firingWorld();
  world.configure([], ['ops']);
  world.pass(windowSeconds + 1);
  world.configure(rulesOf(''), ['ops']);
  world.take(seen('a', 'False'));
  const [again] = world.pass(windowSeconds);
  assert.deepEqual([again?.kind, again?.batch], ['firing', firing.batch]);
  assert.notEqual(again?.id, firing.id, 'a receiver that discards repeated ids gets it');
});

test('a receiver under another name learns of what lasts, at once, and of its end', () => {
  const { world, firing } = firingWorld('remind: 1h');
  world.configure(renamed(), ['on-call']);
  const told = world.pass(1);
  assert.deepEqual(kindsOf(told), ['firing a']);
  assert.deepEqual([told[0]?.batch, told[0]?.receivers], [firing.batch, ['on-call']]);
  assert.notEqual(told[0]?.id, firing.id);
  assert.deepEqual(kindsOf(world.pass(60)), []);
  assert.deepEqual(
    world.pass(3_600).map(({ kind, receivers }) => [kind, receivers]),
    [['reminder', ['on-call']]],
  );
  world.take(seen('a', 'True'));
  assert.deepEqual(
    world.pass(windowSeconds + 1).map(({ kind, receivers }) => [kind, receivers]),
    [['resolved', ['on-call']]],
  );
});

test('a receiver that is still configured is not told again, and keeps its incidents', () => {
  const { world } = firingWorld();
  world.configure(renamed(), ['ops', 'on-call']);
  assert.deepEqual(kindsOf(world.pass(60)), []);
  world.take(seen('a', 'True'));
  const [ended] = world.pass(windowSeconds + 1);
  assert.deepEqual([ended?.kind, ended?.receivers], ['resolved', ['ops']]);
});

test('what is not reported yet goes to the receivers of now alone', () => {
  const world = alertWorld(rulesOf(''));
  world.take(seen('a', 'False'));
  world.pass(2);
  world.configure(renamed(), ['on-call']);
  assert.deepEqual(
    world.pass(60).map(({ kind, receivers }) => [kind, receivers]),
    [['firing', ['on-call']]],
  );
});

test('an incident that is Unknown is not reported again, and its end is, to the receiver of now', () => {
  const { world } = firingWorld();
  world.take(seen('a', 'Unknown'));
  world.configure(renamed(), ['on-call']);
  assert.deepEqual(kindsOf(world.pass(60)), []);
  world.take(seen('a', 'True'));
  const [ended] = world.pass(windowSeconds + 1);
  assert.deepEqual([ended?.kind, ended?.receivers], ['resolved', ['on-call']]);
});
