/** A run writes over sockets of its own: thousands of reads must not delay a beat. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Key, Store } from '../../../shared/store/store.ts';
import { shardWorld } from '../../support/shard-world.ts';

/** The family of an item, by docs/architecture.md. */
function kindOf({ pk, sk }: Key): string {
  const family = pk.startsWith('B#') ? (sk.split('#').find((part) => families.has(part)) ?? sk) : pk;
  return family.startsWith('E#') ? 'EVENT' : (family.split('#')[0] ?? family);
}

const families = new Set(['TARGET', 'REPORT', 'PROBE', 'STATUS', 'EPOCH', 'CHECKPOINT']);

test('claims, beats, commits and checkpoints go over the fenced store alone, the reads of targets never', async () => {
  const world = shardWorld();
  const probe = { tcpSocket: { port: 1 }, periodSeconds: 1 };
  await world.put('checkout', { readinessProbe: { ...probe, failureThreshold: 3 } });
  // Below its threshold for minutes, so that there is something to write down.
  await world.put('basket', { readinessProbe: { ...probe, failureThreshold: 1_000 } });
  const sent: string[] = [];
  const recorded = (name: string): Store => ({
    get: (key, options) => world.store.get(key, options),
    query(query) {
      sent.push(`${name} reads ${query.pk.split('#')[0]}`);
      return world.store.query(query);
    },
    write(operations, options) {
      for (const operation of operations) {
        if (operation.kind === 'check') continue;
        sent.push(`${name} writes ${kindOf(operation.kind === 'put' ? operation.item : operation.key)}`);
      }
      return world.store.write(operations, options);
    },
  });
  const run = await world.run({}, { store: recorded('shared'), fencedStore: recorded('fenced') });
  await world.clock.advance(20_000);
  world.answer(() => 'failure');
  await world.clock.advance(100_000);
  await run.stop();
  assert.deepEqual([...new Set(sent)].sort(), [
    'fenced writes CHECKPOINT',
    'fenced writes EPOCH',
    'fenced writes EVENT',
    'fenced writes LAYOUT',
    'fenced writes PROBE',
    'fenced writes RUN',
    'shared reads B',
    'shared reads CHANGES',
  ]);
});
