/** One pair whose holder is killed and stopped again and again, in clear and in bad weather. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../support/wait.ts';
import { type Family, type Role, register } from './cast.ts';
import { between, type CourseOptions, type Held, type Pair, startControl, startPair, type Worker } from './pair.ts';
import {
  allSettled,
  flapsUntrue,
  gapAround,
  type Harm,
  harmTo,
  type Probes,
  probesOf,
  readAll,
  resultsChanged,
  type Settled,
} from './verdicts.ts';
import { type Weather, weatherOf } from './weather.ts';

/** `early`: killed within the start of its run, before or after its claim. `pause`: stopped and woken again. */
export type Blow = 'kill' | 'early' | 'pause';

export type Gap = { readonly blow: Blow; readonly inWeather: boolean; readonly gapMs: number };

export type KillsOutcome = Harm & {
  readonly gaps: readonly Gap[];
  readonly untrue: readonly string[];
  /** Commits that the fences should have kept out. */
  readonly unfenced: readonly string[];
  readonly fencedWrites: number;
  readonly holds: number;
  readonly probes: Probes;
  readonly weather: ReadonlyMap<string, number>;
};

export type KillsOptions = CourseOptions & {
  readonly name: string;
  readonly kills: number;
  readonly pauses: number;
};

const families: readonly Family[] = ['healthy', 'healthy', 'healthy', 'on-hold', 'starting', 'flapping'];
/** For each so many kills in clear weather, one more in bad weather. */
const badEach = 4;
/** One in so many kills is early. */
const earlyEach = 4;
const aliveMsMax = 8_000;
const earlyMsMax = 800;
const pauseMs = { min: 20_000, max: 60_000 };
/** Within this time a resumed process has done what it had begun. */
const wokenMs = 6_000;
const recovery = { withinMs: 300_000, pollMs: 50 };

type Room = KillsOptions & {
  readonly pair: Pair;
  readonly roles: readonly Role[];
  readonly settled: Settled;
  readonly gaps: Gap[];
  readonly unfenced: string[];
  readonly weather: Weather;
};

export async function killHolders(options: KillsOptions): Promise<KillsOutcome> {
  const { services, probed, name, random, say } = options;
  const pair = await startPair({ services, name, concurrency: 2 });
  try {
    const { roles, control } = await registered(pair, options);
    const settled = await allSettled({ store: pair.store, roles }, probed);
    const sinceMs = Date.now();
    say(`${name}: ${roles.length} targets have settled`);
    const weather = weatherOf(random);
    const room: Room = { ...options, pair, roles, settled, gaps: [], unfenced: [], weather };
    await blows(room);
    const code = await control.stop();
    if (code !== 0) room.unfenced.push(`${name}: the control process ended with ${code}`);
    return await outcomeOf(room, sinceMs);
  } finally {
    await pair.close();
  }
}

async function registered(pair: Pair, { services, probed, name }: KillsOptions) {
  const first = await startControl(pair, services);
  const roles: Role[] = [];
  for (const [index, family] of families.entries())
    roles.push(await register({ api: first.api, probed }, `${name}-${family}-${index}`, family));
  // Its successor runs the schedule at once, and finds that there are targets now.
  assert.equal(await first.stop(), 0);
  return { roles, control: await startControl(pair, services) };
}

async function blows(room: Room): Promise<void> {
  const { kills, pauses, random } = room;
  const all = kills + Math.ceil(kills / badEach);
  const pauseAfter = new Set(Array.from({ length: pauses }, (_, at) => Math.floor(((at + 0.5) * kills) / pauses)));
  for (let kill = 0; kill < all; kill += 1) {
    if (pauseAfter.has(kill)) await inWeather(room, random.next() < 0.5, (bad) => pauseHolder(room, bad));
    const isEarly = kill % earlyEach === earlyEach - 1;
    await inWeather(room, kill >= kills, (bad) => (isEarly ? killEarly(room, bad) : killHolder(room, bad)));
  }
}

async function inWeather(room: Room, bad: boolean, blow: (bad: boolean) => Promise<void>): Promise<void> {
  room.pair.play(bad ? room.weather : undefined);
  await blow(bad);
  room.pair.play(undefined);
}

/** The living holder, once it has probed: a blow is measured alone, not with the end of the previous run. */
async function holder({ pair, roles, probed }: Room): Promise<Held> {
  return until(`${pair.name} has a holder`, recovery, () => {
    const held = lastHold(pair);
    return held && gapAround(healthyOf(roles), probed, held.timeMs) !== undefined && held;
  });
}

const healthyOf = (roles: readonly Role[]): readonly Role[] => roles.filter(({ family }) => family === 'healthy');

function lastHold({ holds, lefts }: Pair): Held | undefined {
  const held = holds.at(-1);
  if (!held?.worker.process().alive()) return undefined;
  const { worker, shard, timeMs } = held;
  return lefts.some((left) => left.worker === worker && left.shard === shard && left.timeMs >= timeMs)
    ? undefined
    : held;
}

async function killHolder(room: Room, inWeather: boolean): Promise<void> {
  const { worker } = await holder(room);
  await wait(between(room.random, 0, aliveMsMax));
  await killed(room, worker, { blow: 'kill', inWeather });
}

/** The holder leaves in order; the worker that receives the message next, perhaps the same one, is killed at once. */
async function killEarly(room: Room, inWeather: boolean): Promise<void> {
  const { pair, random } = room;
  const { worker } = await holder(room);
  const next = pair.other(worker);
  // Counted from here: a run that ends in doubt leaves its message to the other worker before the SIGTERM.
  const received = next.receivedAtMs.length;
  await wait(between(random, 0, aliveMsMax));
  worker.process().signal('SIGTERM');
  let receivedAgain = Number.POSITIVE_INFINITY;
  const leaving = worker.process().ended.then(async (code) => {
    if (code !== 0) room.unfenced.push(`${worker.name}: ended with ${code} at a SIGTERM`);
    receivedAgain = worker.receivedAtMs.length;
    await worker.start();
  });
  const victim = await until(`${pair.name}: a worker receives`, recovery, () => {
    if (next.receivedAtMs.length > received) return next;
    return worker.receivedAtMs.length > receivedAgain && worker;
  });
  if (victim === worker) await leaving;
  await wait(between(random, 0, earlyMsMax));
  await Promise.all([killed(room, victim, { blow: 'early', inWeather }), leaving]);
}

async function killed(room: Room, worker: Worker, blow: Omit<Gap, 'gapMs'>): Promise<void> {
  const atMs = Date.now();
  worker.process().signal('SIGKILL');
  await worker.process().ended;
  await Promise.all([worker.start(), recovered(room, atMs, blow)]);
}

/** Until every healthy probe arrives again. */
async function recovered(room: Room, atMs: number, blow: Omit<Gap, 'gapMs'>): Promise<void> {
  const { pair, roles, probed, settled, gaps, say } = room;
  const healthy = healthyOf(roles);
  const gapMs = await until(`${pair.name} is probed again`, recovery, () => gapAround(healthy, probed, atMs));
  gaps.push({ ...blow, gapMs });
  const changed = resultsChanged(roles, settled, await readAll({ store: pair.store, roles }));
  const sky = blow.inWeather ? ', in bad weather' : '';
  const harm = changed.length > 0 ? ` CHANGED: ${changed.join('; ')}` : '';
  say(`${pair.name}: ${blow.blow} ${gaps.length}${sky}: gap ${(gapMs / 1_000).toFixed(1)} s${harm}`);
}

async function pauseHolder(room: Room, inWeather: boolean): Promise<void> {
  const { pair, random, unfenced } = room;
  const { worker, token } = await holder(room);
  await wait(between(random, 0, aliveMsMax));
  const atMs = Date.now();
  worker.process().signal('SIGSTOP');
  const longMs = between(random, pauseMs.min, pauseMs.max);
  await Promise.all([recovered(room, atMs, { blow: 'pause', inWeather }), wait(longMs)]);
  const wokenAtMs = performance.now();
  worker.process().signal('SIGCONT');
  await wait(wokenMs);
  const late = pair.fences.takenOf(worker.name, wokenAtMs).filter((write) => write.token <= token);
  if (late.length > 0) unfenced.push(`${worker.name} committed ${late.length} times after a pause of ${longMs} ms`);
}

async function outcomeOf(room: Room, sinceMs: number): Promise<KillsOutcome> {
  const { pair, roles, settled, probed, gaps, unfenced, weather } = room;
  const stored = { store: pair.store, roles };
  return {
    ...(await harmTo(stored, { settled, sinceMs })),
    gaps,
    untrue: await flapsUntrue(stored, probed),
    unfenced: [...unfenced, ...pair.fences.violations()],
    fencedWrites: pair.fences.taken(),
    holds: pair.holds.length,
    probes: probesOf(healthyOf(roles), probed, sinceMs),
    weather: weather.counts,
  };
}
