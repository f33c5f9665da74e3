import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Counts, components, mapComponents, perMinute, totalOf } from './counts.ts';
import { grown, type Size } from './growth.ts';
import { simulateFleet } from './simulate-fleet.ts';

const count = (calls: number) => ({ calls, reads: calls, writes: 0 });
const minute: Counts = mapComponents(() => ({
  sites: new Map([
    ['extend', count(12)],
    ['get LAYOUT', count(12)],
    ['query bucket', count(2)],
    ['probe http', count(6_000)],
  ]),
  cpuMs: 100,
  readBytesMax: 1_000,
}));
const size: Size = { targets: 1_000, shards: 1, layout: 200, changes: 20_000, weighMs: 20, weighedMax: 64 };

describe('a fleet that is calculated from a simulated one', () => {
  test('of the same size is the same', () => {
    const same = grown(minute, size, size);
    for (const component of components) assert.deepEqual(totalOf(same[component]), totalOf(minute[component]));
  });

  test('has a beat for each shard, a probe for each target, and larger reads of LAYOUT and buckets', () => {
    const { sites } = grown(minute, size, { ...size, targets: 10_000, shards: 4, layout: 9_000 }).prober;
    assert.deepEqual(sites.get('extend'), { calls: 48, reads: 48, writes: 0 });
    assert.deepEqual(sites.get('get LAYOUT'), { calls: 48, reads: 144, writes: 0 });
    assert.deepEqual(sites.get('query bucket'), { calls: 2, reads: 20, writes: 0 });
    assert.equal(sites.get('probe http')?.calls, 60_000);
  });
});

test('the counts of a minute leave out what came before', () => {
  const twice = mapComponents((component) => ({ ...minute[component], cpuMs: 300 }));
  const between = perMinute(minute, twice, 2);
  assert.deepEqual([between.prober.sites.size, between.prober.cpuMs], [0, 100]);
});

test('a simulated fleet is held, probed at its period, changed, listed and registered with', async () => {
  const fleet = await simulateFleet({ targets: 60, minutes: 2, requests: true });
  const { minute: counted, registering, listing, problems } = fleet;
  assert.deepEqual(problems, []);
  assert.equal(fleet.shards, 1);
  assert.equal(Math.round((counted.prober.sites.get('probe http')?.calls ?? 0) / 60), 6);
  assert.ok(Math.abs((counted.prober.sites.get('extend')?.calls ?? 0) - 12) <= 1);
  assert.ok((counted['status-sync'].sites.get('write STATUS')?.calls ?? 0) > 0);
  // TARGET, STATUS and PROBE in a transaction, and the change counter before and after it.
  assert.equal(registering?.each.api.writes, 8);
  assert.ok(listing && listing.targets > 60 && listing.reads > 0);
});
