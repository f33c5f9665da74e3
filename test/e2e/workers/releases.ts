/**
 * A release that does not start, then one that works, while two workers of the release before hold eight shards
 * (record 86). For the first one shard's run gives up, and the others stay; once it is refused, a worker of the release
 * before keeps that shard, too. For the second one shard's run gives up, and the others follow when it has proved.
 */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { ProberView } from '../../../shared/api/routes/prober.ts';
import { until } from '../../support/wait.ts';
import type { Role } from './cast.ts';
import { isIn } from './handed.ts';
import { shardCount, shardNames } from './layout-of-eight.ts';
import type { CourseOptions } from './pair.ts';
import { startProbed } from './probed.ts';
import type { Started } from './processes.ts';
import { registerAll } from './registered.ts';
import { type ReleaseStage, releaseStage } from './release-stage.ts';
import { allSettled, gapsOf, type Harm, harmTo } from './verdicts.ts';

export type ReleasesOutcome = Harm & {
  readonly broken: Rollout & {
    /** From the new control process to the refusal, and to the event. */
    readonly refusedMs: number;
    readonly publishedMs: number;
    /** Shards that a run of the release before holds afterwards. */
    readonly kept: number;
    /** Runs that gave up after that. */
    readonly gaveUpLater: readonly string[];
  };
  readonly working: Rollout & {
    /** From the new control process to the proof, and until its runs hold all shards. */
    readonly provedMs: number;
    readonly allMs: number;
  };
};

/** What a wanted release did to the shards, until it was refused or had proved. */
type Rollout = {
  /** Shards whose run gave up for it, and how often a run did. */
  readonly shards: readonly string[];
  readonly times: number;
  /** The longest time without an arrival of a probe, of targets of these shards and of the others. */
  readonly gapMs: { readonly tried: number; readonly others: number };
};

type Room = Pick<CourseOptions, 'probed' | 'say'> & {
  readonly stage: ReleaseStage;
  readonly roles: readonly Role[];
};

const [before, broken, working] = ['first', 'broken', 'fixed'] as const;
/** As a service does that restarts its task again and again. */
const againMs = 30_000;
const looking = { withinMs: 300_000, pollMs: 1_000 };
/** A run reads LAYOUT after each beat, and then leaves. */
const staleMs = 8_000;

export type ReleasesOptions = Pick<CourseOptions, 'services' | 'say'>;

export async function changeReleases({ services, say }: ReleasesOptions): Promise<ReleasesOutcome> {
  // Of its own: other courses run at the same time, and have targets of the same names.
  const probed = await startProbed();
  const stage = await releaseStage(services);
  try {
    const roles = await registerAll({ store: stage.store, probed }, { shards: shardCount, families: ['healthy'] });
    const workers = [await stage.work(before), await stage.work(before)] as const;
    await stage.want(before);
    const settled = await allSettled({ store: stage.store, roles }, probed);
    const room: Room = { probed, say, stage, roles };
    await allRun(room, before);
    const sinceMs = Date.now();
    say(`releases: ${roles.length} targets in ${shardCount} shards have settled`);
    const refusal = await brokenRelease(room);
    // A deployment ends the workers one after the other: what the last one gives up goes to the new ones.
    await endWorker(workers[1]);
    await until('one worker holds all shards', looking, () => shardNames.every(isHeldBy(stage, workers[0])));
    const success = await workingRelease(room);
    return {
      ...(await harmTo({ store: stage.store, roles }, { settled, sinceMs })),
      broken: refusal,
      working: success,
    };
  } finally {
    await stage.close();
    await probed.close();
  }
}

async function brokenRelease(room: Room): Promise<ReleasesOutcome['broken']> {
  const { stage, say } = room;
  const sinceMs = Date.now();
  await stage.want(broken);
  const over = new AbortController();
  const restarting = keepRestarting(stage, over.signal);
  await until('the release is refused', looking, async () => (await stage.view()).release.refused === broken);
  const refusedAtMs = Date.now();
  const rollout = rolloutSince(room, sinceMs);
  say(`releases: '${broken}' was refused; ${rollout.shards.join(', ')} had given up ${rollout.times} times`);
  // Its schedule publishes at once, and does not try the release again.
  await stage.want(broken);
  await until('the refusal is published', looking, () => stage.refusedAtMs(broken).length > 0);
  const publishedMs = (stage.refusedAtMs(broken)[0] ?? 0) - sinceMs;
  await wait(againMs);
  over.abort();
  await restarting;
  const kept = (await stage.view()).shards.filter(({ release }) => release === before).length;
  const gaveUpLater = gaveUp(stage, refusedAtMs + staleMs).map(({ shard }) => shard);
  return { ...rollout, refusedMs: refusedAtMs - sinceMs, publishedMs, kept, gaveUpLater };
}

async function workingRelease(room: Room): Promise<ReleasesOutcome['working']> {
  const { stage, say } = room;
  await stage.work(working);
  const sinceMs = Date.now();
  await stage.want(working);
  let triedAtMs = sinceMs;
  await until('the release has proved', looking, async () => {
    const { desired, trial, refused } = (await stage.view()).release;
    assert.notEqual(refused, working, 'a release that works is refused');
    if (trial) triedAtMs = Date.now();
    return desired === working && !trial;
  });
  const provedAtMs = Date.now();
  // What gave up since the last look may have followed already.
  const rollout = rolloutSince(room, sinceMs, triedAtMs);
  say(`releases: '${working}' has proved in ${rollout.shards.join(', ')}`);
  await allRun(room, working);
  const allMs = Date.now() - sinceMs;
  say(`releases: '${working}' holds all shards`);
  return { ...rollout, gapMs: gapsSince(room, rollout.shards, sinceMs), provedMs: provedAtMs - sinceMs, allMs };
}

async function keepRestarting(stage: ReleaseStage, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await stage.workInVain(broken);
    await wait(againMs, undefined, { signal: over }).catch(() => undefined);
  }
}

async function endWorker(worker: Started): Promise<void> {
  worker.signal('SIGTERM');
  assert.equal(await worker.ended, 0, worker.lastLines().join('\n'));
}

const isHeldBy =
  ({ begun }: ReleaseStage, worker: Started) =>
  (shard: string): boolean =>
    begun.findLast((run) => run.shard === shard)?.worker === worker;

/** Until a run of this release holds every shard, and each target has been probed by it. */
async function allRun({ stage }: Room, release: string): Promise<void> {
  let view: ProberView | undefined;
  await until(
    () => `all shards run '${release}': ${JSON.stringify(view)}`,
    looking,
    async () => {
      view = await stage.view();
      return view.shards.every((shard) => shard.release === release && shard.observed !== undefined);
    },
  );
}

/** Runs that have left before the end of their slot for another release. A worker that is ended does so, too. */
const gaveUp = ({ ended }: ReleaseStage, sinceMs: number, untilMs = Number.POSITIVE_INFINITY) =>
  ended.filter(({ kind, timeMs }) => kind === 'handover' && timeMs >= sinceMs && timeMs <= untilMs);

function rolloutSince(room: Room, sinceMs: number, untilMs?: number): Rollout {
  const runs = gaveUp(room.stage, sinceMs, untilMs);
  const shards = [...new Set(runs.map(({ shard }) => shard))];
  return { shards, times: runs.length, gapMs: gapsSince(room, shards, sinceMs) };
}

function gapsSince({ roles, probed }: Room, shards: readonly string[], sinceMs: number): Rollout['gapMs'] {
  const nowMs = Date.now();
  const longest = (some: readonly string[]): number =>
    Math.max(
      0,
      ...roles
        .filter((role) => some.some((shard) => isIn(shard)(role)))
        .flatMap(({ paths }) => paths)
        .flatMap((path) => {
          const arrivals = probed.arrivals(path);
          return [...gapsOf(arrivals, sinceMs), nowMs - (arrivals.at(-1)?.timeMs ?? 0)];
        }),
    );
  return { tried: longest(shards), others: longest(shardNames.filter((shard) => !shards.includes(shard))) };
}
