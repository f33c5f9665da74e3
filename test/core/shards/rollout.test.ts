/** One shard tries a release before the others follow. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LayoutShard } from '../../../shared/core/shards/layout.ts';
import { nextRollout, type Rollout, type Shown } from '../../../shared/core/shards/rollout.ts';
import type { ShardMode } from '../../../shared/core/shards/slots.ts';

const nowMs = 1_000_000;
const shardOf = (shard: string, mode: ShardMode): LayoutShard => ({
  shard,
  from: Number.parseInt(shard, 16),
  to: Number.parseInt(shard, 16) + 1,
  generation: 1,
  mode,
  sinceMs: 0,
});
const shards = [shardOf('00', 'tick'), shardOf('40', 'resident'), shardOf('80', 'resident'), shardOf('c0', 'idle')];
const held = (release: string, more: Partial<Shown> = {}): Shown => ({
  release,
  beat: 7,
  beganAtMs: nowMs - 60_000,
  observedAtMs: nowMs - 1_000,
  degraded: false,
  ...more,
});
const trial = { shard: '40', sinceMs: nowMs - 60_000 };
const tried: Rollout = { desiredRelease: 'r2', trial };

type Row = {
  readonly what: string;
  readonly before: Rollout;
  readonly wanted?: string;
  readonly runs?: Readonly<Record<string, Shown>>;
  readonly shards?: readonly LayoutShard[];
  /** Absent: nothing changes. */
  readonly after?: Rollout;
};

const old = { '00': held('r1'), '40': held('r1'), '80': held('r1') };

const rows: readonly Row[] = [
  { what: 'nothing is wanted', before: { desiredRelease: '' }, wanted: '' },
  { what: 'nothing is wanted any more', before: tried, wanted: '', after: { desiredRelease: '' } },
  { what: 'the first release of all', before: { desiredRelease: '' }, runs: {}, after: { desiredRelease: 'r2' } },
  {
    what: 'a release beside runs of another: a resident shard tries it',
    before: { desiredRelease: 'r1' },
    after: { desiredRelease: 'r2', trial: { shard: '40', sinceMs: nowMs } },
  },
  {
    what: 'a release beside runs that name none, as those of an older version',
    before: { desiredRelease: 'r1' },
    runs: { '80': { beat: 3, observedAtMs: nowMs, degraded: false } },
    after: { desiredRelease: 'r2', trial: { shard: '80', sinceMs: nowMs } },
  },
  {
    what: 'a release where only a shard in tick mode has a run',
    before: { desiredRelease: 'r1' },
    runs: { '00': held('r1') },
    after: { desiredRelease: 'r2', trial: { shard: '00', sinceMs: nowMs } },
  },
  {
    what: 'every run has it already',
    before: { desiredRelease: '' },
    runs: { '40': held('r2') },
    after: { desiredRelease: 'r2' },
  },
  { what: 'the run still has the old release', before: tried },
  { what: 'the run has it and has not beaten', before: tried, runs: { '40': held('r2', { beat: 0 }) } },
  {
    what: 'the run has it and has not done what was due',
    before: tried,
    runs: { '40': held('r2', { observedAtMs: nowMs - 60_000 }) },
  },
  { what: 'the run has it and doubts itself', before: tried, runs: { '40': held('r2', { degraded: true }) } },
  { what: 'another shard has it', before: tried, runs: { ...old, '80': held('r2') } },
  {
    what: 'the run has it, has beaten and has probed',
    before: tried,
    runs: { ...old, '40': held('r2') },
    after: { desiredRelease: 'r2' },
  },
  { what: '110 s are over', before: { ...tried, trial: { ...trial, sinceMs: nowMs - 110_000 } } },
  {
    what: 'more than 110 s are over',
    before: { ...tried, trial: { ...trial, sinceMs: nowMs - 110_001 } },
    after: { desiredRelease: '', refused: 'r2' },
  },
  {
    what: 'a slot in tick mode takes longer',
    before: { ...tried, trial: { shard: '00', sinceMs: nowMs - 110_001 } },
  },
  { what: 'it was refused', before: { desiredRelease: '', refused: 'r2' } },
  {
    what: 'it was refused, and some shards have it all the same',
    before: { desiredRelease: '', refused: 'r2' },
    runs: { ...old, '40': held('r2') },
  },
  {
    what: 'it was refused, and every shard has it all the same',
    before: { desiredRelease: '', refused: 'r2' },
    runs: { '00': held('r2'), '40': held('r2'), '80': held('r2') },
    after: { desiredRelease: 'r2' },
  },
  {
    what: 'another was refused',
    before: { desiredRelease: '', refused: 'r1' },
    after: { desiredRelease: 'r2', refused: 'r1', trial: { shard: '40', sinceMs: nowMs } },
  },
  {
    what: 'the shard that tries it is gone',
    before: { ...tried, trial: { ...trial, shard: '20' } },
    after: { desiredRelease: 'r2', trial: { shard: '40', sinceMs: nowMs } },
  },
  {
    what: 'the shard that tries it has no targets any more',
    before: { ...tried, trial: { ...trial, shard: 'c0' } },
    after: { desiredRelease: 'r2', trial: { shard: '40', sinceMs: nowMs } },
  },
];

for (const { what, before, wanted = 'r2', runs = old, after = before, ...row } of rows)
  test(what, () => {
    const runOf = (shard: string): Shown | undefined => new Map(Object.entries(runs)).get(shard);
    const next = nextRollout(before, { wanted, shards: row.shards ?? shards, runOf, nowMs });
    assert.deepEqual(next, after);
    if (after === before) assert.equal(next, before);
  });
