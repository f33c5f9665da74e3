/** How a run follows the release that LAYOUT desires. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Leave, layoutFollower } from '../../shared/holder/layout-follower.ts';
import { generationAttribute } from '../../shared/store/records/items.ts';
import { layoutKey } from '../../shared/store/records/keys.ts';
import { shardWorld } from '../support/shard-world.ts';

const beatMs = 5_000;

/** A run of release `old`; the world's own clock says when it would leave. */
async function world() {
  const { clock, store, bareRun } = shardWorld();
  let writes = 0;
  const desire = async (desiredRelease: string, trial?: string) => {
    writes += 1;
    const tried = trial === undefined ? {} : { trial: { shard: trial, sinceMs: clock.nowMs() } };
    const set = { version: 1, announced: 1, [generationAttribute('00')]: 1, desiredRelease, ...tried };
    await store.write([{ kind: 'update', key: layoutKey, set }], { token: `layout ${writes}` });
  };
  const look = layoutFollower({ ...bareRun(1), release: 'old' }, beatMs);
  /** Looks with each beat for so long; when the run was first to leave, and how. */
  const leavesWithin = async (ms: number): Promise<{ readonly afterMs: number; readonly leave: Leave } | undefined> => {
    const sinceMs = clock.monotonicMs();
    while (clock.monotonicMs() - sinceMs < ms) {
      const leave = await look();
      if (leave) return { afterMs: clock.monotonicMs() - sinceMs, leave };
      await clock.advance(beatMs);
    }
    return undefined;
  };
  return { desire, leavesWithin };
}

describe('a run whose release is not the desired one', () => {
  test('hands over, but not in the first 45 s, or a release that never comes would keep all handing over', async () => {
    const { desire, leavesWithin } = await world();
    await desire('new');
    const left = await leavesWithin(100_000);
    assert.deepEqual(left?.leave, { inMs: 0, as: { kind: 'handover' } });
    assert.ok(left.afterMs >= 45_000 && left.afterMs <= 90_000 + beatMs, `after ${left.afterMs} ms`);
  });

  test('hands over within 45 s and a beat when it has run for long', async () => {
    const { desire, leavesWithin } = await world();
    await desire('old');
    assert.equal(await leavesWithin(600_000), undefined);
    await desire('new');
    const left = await leavesWithin(100_000);
    assert.deepEqual(left?.leave, { inMs: 0, as: { kind: 'handover' } });
    assert.ok(left.afterMs <= 45_000 + beatMs, `after ${left.afterMs} ms`);
  });

  test('hands over without delay when its shard is the one that tries the release', async () => {
    const { desire, leavesWithin } = await world();
    await desire('old');
    assert.equal(await leavesWithin(600_000), undefined);
    await desire('new', '00');
    const left = await leavesWithin(100_000);
    assert.deepEqual([left?.leave, left?.afterMs], [{ inMs: 0, as: { kind: 'handover' } }, 0]);
  });

  test('stays while another shard tries the release', async () => {
    const { desire, leavesWithin } = await world();
    await desire('new', '80');
    assert.equal(await leavesWithin(600_000), undefined);
  });

  test('stays when its own is desired again before, or none is', async () => {
    for (const release of ['old', '']) {
      const { desire, leavesWithin } = await world();
      await desire('new');
      assert.equal(await leavesWithin(40_000), undefined);
      await desire(release);
      assert.equal(await leavesWithin(600_000), undefined, `desired: '${release}'`);
    }
  });
});
