/**
 * Kills the product 20 times at random points, with more than 50 targets in all states, and compares its store with its
 * state before and with the real answers of the targets. Usage: node test/e2e/kill.ts [SEED]. Ends with `N passed, N
 * failed`.
 */
import { join } from 'node:path';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import { targetPath } from '../support/api-client.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { say, tallyOf } from '../support/tally.ts';
import { until } from '../support/wait.ts';
import * as episodes from './kill/episodes.ts';
import { subscribe } from './kill/heard.ts';
import * as judge from './kill/judge.ts';
import { readSnapshot, type Snapshot } from './kill/snapshot.ts';
import { namespace, registerCast } from './kill/targets.ts';
import { type RealWorld, startRealWorld } from './real-world.ts';

const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 2 ** 31));
const random = seededRandom(seed);
const wait = (ms: number) => sleep(systemClock, ms);
const between = (low: number, high: number) => low + random.next() * (high - low);

const kills = 20;
/** Kills within the start of the process, and after its first checkpoint; all others in between. */
const earlyKills = new Set([3, 8, 13, 18]);
const lateKills = new Set([6, 15]);
const settleMsMax = 60_000;
const leavingAtOnce = 2;
/** Time between two requests to the API, and within which a target is gone after its grace period. */
const lookEveryMs = 500;
const promptMs = 4_000;

const { verdict, end: endTally } = tallyOf();

say(`seed ${seed}`);
const world = await startRealWorld();
// Requests may come while the cast is still being registered.
const subscriber = subscribe(world, (target) => target.startsWith('restarted-'));
const cast = await registerCast(world);
const file = join(world.dataDir, 'probelet.sqlite');
let leavingNames = 0;
const leaving = new Map<string, { readonly endsMs: number; goneMs?: number }>();
const lives: judge.Life[] = [];
let life = { startedMs: Date.now(), readyMs: Date.now() };

/** A target that has settled is in the state of its family. */
function settled(): Promise<Snapshot> {
  let open: readonly string[] = [];
  const describe = () => `all targets settle, but ${open.slice(0, 5).join('; ')}`;
  return until(describe, { withinMs: settleMsMax, pollMs: 1_000 }, async () => {
    const before = readSnapshot(file);
    await wait(2_500);
    const now = readSnapshot(file);
    open = [...judge.stableItemsUnchanged(cast, before, now), ...unsettled(now)];
    return open.length === 0 && now;
  });
}

function unsettled({ statuses, probes }: Snapshot): readonly string[] {
  return [...cast.families].flatMap(([name, family]) => {
    const ready = statuses.get(name)?.status.conditions.find(({ type }) => type === 'Ready')?.status === 'True';
    const onHold = probes.some(
      ({ target, record }) => target === name && record.probeType === 'liveness' && record.onHold,
    );
    const wantsReady = family === 'ready' || family === 'reported' || family === 'sidecar' || family === 'on-hold';
    if (family === 'on-hold' && !onHold) return [`${name} is not on hold`];
    return wantsReady && !ready ? [`${name} is not ready`] : [];
  });
}

/** Keeps two targets terminating while the process is up, and notes when they are gone. */
async function tendLeaving(untilMs: number): Promise<void> {
  while (Date.now() < untilMs) {
    for (const [name, target] of leaving) {
      if (target.goneMs !== undefined) continue;
      const { status } = await world.api('GET', targetPath(name, namespace));
      if (status === 404) target.goneMs = Date.now();
    }
    const open = [...leaving.values()].filter(({ goneMs }) => goneMs === undefined).length;
    if (open < leavingAtOnce) await addLeaving();
    await wait(Math.max(0, Math.min(lookEveryMs, untilMs - Date.now())));
  }
}

async function addLeaving(): Promise<void> {
  const graceSeconds = Math.round(between(3, 30));
  leavingNames += 1;
  const name = `leaving-${leavingNames}`;
  await cast.addLeaving(name, graceSeconds);
  leaving.set(name, { endsMs: Date.now() + graceSeconds * 1000 });
}

function gracesOnTime(): judge.Faults {
  return [...leaving].flatMap(([name, { endsMs, goneMs }]) => {
    const latestMs = judge.upAt(lives, endsMs) + promptMs;
    if (goneMs === undefined) return Date.now() > latestMs ? [`${name} is still there`] : [];
    return goneMs < endsMs - 1_000 || goneMs > latestMs
      ? [`${name} was gone ${goneMs - endsMs} ms after its grace`]
      : [];
  });
}

async function restart(started: RealWorld): Promise<number> {
  const startedMs = Date.now();
  const tookMs = await started.start();
  life = { startedMs, readyMs: Date.now() };
  return tookMs;
}

const first = await settled();
say(`${cast.families.size} targets have settled`);
let before = first;
let counts = judge.countsOf(cast, first);
for (let kill = 1; kill <= kills; kill += 1) {
  const early = earlyKills.has(kill);
  const aliveMs = early ? between(50, 900) : lateKills.has(kill) ? between(62_000, 70_000) : between(1_500, 8_000);
  if (early) {
    const startedMs = Date.now();
    await world.startAndKill(aliveMs);
    lives.push({ startedMs, killedMs: Date.now() });
  } else {
    const tookMs = kill === 1 ? 0 : await restart(world);
    await tendLeaving(Date.now() + aliveMs);
    await world.kill();
    const killedMs = Date.now();
    const doubted = subscriber.doubted(life.startedMs, killedMs);
    lives.push({ ...life, killedMs, doubted });
    if (doubted) say('       the prober doubted itself');
    if (tookMs > 0) say(`       started in ${tookMs.toFixed(0)} ms`);
  }
  const now = readSnapshot(file);
  const last = lives.at(-1) as judge.Life;
  const nowCounts = judge.countsOf(cast, now);
  const faults = [
    ...judge.stableItemsUnchanged(cast, first, now),
    ...judge.nothingLost(before, now),
    ...judge.verdictsAreOwn(before, now, last),
    ...episodes.requestsAreKept(before, now, subscriber),
    ...(kill === 1 ? [] : judge.countsHold(counts, nowCounts, last)),
  ];
  const fresh = now.events.length - before.events.length;
  const runs = nowCounts.map(({ run }) => run).join(', ');
  verdict(`kill ${kill}, ${(aliveMs / 1000).toFixed(1)} s after the start: ${fresh} events, runs ${runs}`, faults);
  before = now;
  counts = nowCounts;
}

await restart(world);
const endMs = Date.now() + 40_000;
await tendLeaving(Date.now() + 15_000);
await subscriber.stop();
lives.push({ ...life, killedMs: Number.POSITIVE_INFINITY });
let end = readSnapshot(file);
while (judge.everythingTakenIn(end).length > 0 && Date.now() < endMs) {
  await wait(1_000);
  end = readSnapshot(file);
}
verdict('in the end every status has taken in everything', judge.everythingTakenIn(end));
verdict('what settled before the first kill was never written again', judge.stableItemsUnchanged(cast, first, end));
verdict('every version of every result has its transition', judge.everyVersionPublished(end));
verdict('what flapped was told as it was answered', judge.flapsAreTrue(cast, end, lives));
verdict('every attempt to have a container restarted was published', episodes.everyAttemptMade(subscriber, lives));
verdict('attempts came after their back-off, on time', episodes.attemptsOnTime(cast, subscriber, lives));
verdict('no attempt is overdue', episodes.noneOverdue(end, lives));
verdict('no event came twice from one process', episodes.repeatedByKillsOnly(subscriber, lives));
verdict('each episode ended once', episodes.recoveredOnce(subscriber));
verdict('requests and recoveries follow from results', episodes.episodesAreTrue(cast, end, { subscriber, lives }));
verdict('restarts were counted once', episodes.restartsCountedOnce(cast, end, subscriber));
verdict(`${leaving.size} grace periods ended on time`, gracesOnTime());
await world.stop();
await cast.close();
const [requests, recoveries] = (['requested', 'recovered'] as const).map(
  (kind) => subscriber.heard.filter((event) => event.kind === kind).length,
);
const restarts = [...subscriber.restarted.values()].reduce((sum, { size }) => sum + size, 0);
say(`${requests} restart requests, ${recoveries} recoveries, ${restarts} restarts reported`);
const transitions = end.events.filter(({ record }) => record.kind === 'transition').length;
say(
  `${kills} kills, ${cast.families.size} targets, ${end.events.length} events, ${transitions} of them transitions; seed ${seed}`,
);
endTally();
