/** A bus that delivers nothing for minutes while targets change, and how soon every status is right afterwards. */
import type { TargetView } from '../../../../shared/api/schema/target-schema.ts';
import { sleep, systemClock } from '../../../../shared/lib/clock.ts';
import { targetAddress } from '../../../../shared/store/records/keys.ts';
import { readTarget } from '../../../../shared/table/targets.ts';
import { atLeast, atMost, exactly, type Figure, quantileOf, unjudged } from '../../../support/figures.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { longestSince, watchStandstills } from '../../../support/standstill.ts';
import { listTargets, namespace } from '../listed.ts';
import type { Length, Step } from '../step.ts';
import { type Actor, failing, flipping, leaving, recovering, registeredLate, reported, respecified } from './cast.ts';
import { loseRequests } from './requests.ts';
import { restarter } from './restarter.ts';
import { settled } from './settled.ts';
import { openStage, type Stage } from './stage.ts';

/**
 * A minute has six of the intervals after which an unacked result is published again
 * (shared/holder/probing/timekeeper.ts).
 */
const lossMs: Readonly<Record<Length, number>> = { full: 300_000, slice: 60_000 };
const rightWithinMs = 60_000;
const lookMs = 1_000;
/** Between two turns of a target that flips. */
const flipMs = 15_000;

export const eventsStep: Step = {
  name: 'events',
  title: 'A bus that delivers nothing, while 300 targets change',
  async run(length) {
    const scenes = [(stage: Stage) => loseAll(stage, lossMs[length]), (stage: Stage) => loseRequests(stage, length)];
    return (await Promise.all(scenes.map(played))).flat();
  },
};

async function played(scene: (stage: Stage) => Promise<readonly Figure[]>): Promise<readonly Figure[]> {
  const stage = await openStage();
  return scene(stage).finally(() => stage.close());
}

const several = (count: number, name: string, make: (name: string) => Actor): readonly Actor[] =>
  Array.from({ length: count }, (_, at) => make(`${name}-${at}`));

async function loseAll(stage: Stage, ms: number): Promise<readonly Figure[]> {
  const flips = several(120, 'flipping', (name) => flipping(stage, name));
  const fails = [
    ...several(30, 'failing', (name) => failing(stage, name)),
    ...several(30, 'recovering', (name) => recovering(stage, name)),
  ];
  const reports = several(60, 'reported', (name) => reported(stage, name));
  const once = [
    ...several(20, 'late', (name) => registeredLate(stage, name)),
    ...several(20, 'leaving', (name) => leaving(stage, name)),
    ...several(20, 'respecified', (name) => respecified(stage, name)),
  ];
  const actors = [...flips, ...fails, ...reports, ...once];
  for (const { enter } of actors) await enter();
  await settled(stage, [...flips, ...fails, ...reports]);

  const requests = restarter(stage);
  stage.bus.lose(() => true);
  const fromTaken = stage.bus.taken.length;
  await act({ untilMs: Date.now() + ms, flips, once: [...fails, ...reports, ...once] });
  const delivered = requests.delivered.size;
  const [lost, commits] = [stage.bus.lost(), commitsIn(stage, fromTaken)];
  stage.bus.lose(undefined);
  const standstills = watchStandstills();
  const followedMs = Date.now();
  const rightMs = await follow(stage, actors);
  const open = await openIn(stage, actors);
  const why = rightMs.length < actors.length ? await firstWrong(stage, actors) : [];
  const wanted = [...fails, ...reports].map(({ name }) => name);
  const onBus = targetsOf(stage, 'Container Restart Requested');
  const recovered = targetsOf(stage, 'Container Recovered');
  return [
    unjudged(`events lost in ${ms / 1_000} s`, `${lost}`),
    atLeast('results that changed meanwhile', commits, { limit: flips.length }),
    exactly('restart requests delivered meanwhile', delivered, 0),
    exactly('targets whose status is right after 60 s', rightMs.length, actors.length),
    ...why,
    unjudged('this process stood still for, at the most', `${longestSince(standstills(), followedMs)} ms`),
    unjudged('right after, p50, p99', `${seconds(rightMs, 0.5)} s, ${seconds(rightMs, 0.99)} s`),
    atMost('the last one right after', (rightMs.length < actors.length ? Infinity : (rightMs.at(-1) ?? 0)) / 1_000, {
      limit: rightWithinMs / 1_000,
      unit: 's',
    }),
    exactly('changes that no status has acked then', open, 0),
    exactly(
      'containers whose restart request was on the bus',
      wanted.filter((name) => onBus.has(name)).length,
      wanted.length,
    ),
    exactly('and reached its subscriber', wanted.filter((name) => requests.delivered.has(name)).length, wanted.length),
    exactly('static containers that were published as recovered', recovered.size, fails.length),
    exactly('restarts requested of containers that were well', others(onBus, wanted), 0),
  ];
}

const seconds = (values: readonly number[], part: number): string => (quantileOf(values, part) / 1_000).toFixed(1);

const others = (found: ReadonlySet<string>, wanted: readonly string[]): number =>
  [...found].filter((name) => !wanted.includes(name)).length;

/** The targets of the events of this type that the bus has taken. */
const targetsOf = ({ bus }: Stage, type: string): ReadonlySet<string> =>
  new Set(
    bus.taken.flatMap(({ detailType, detail }) =>
      detailType === type && 'target' in detail ? detail.target.name : [],
    ),
  );

/** Several publications of one change count once. */
const commitsIn = ({ bus }: Stage, from: number): number =>
  new Set(
    bus.taken
      .slice(from)
      .flatMap(({ detailType, detail }) => (detailType === 'Probe Result Changed' ? [detail.id] : [])),
  ).size;

type Acting = { readonly untilMs: number; readonly flips: readonly Actor[]; readonly once: readonly Actor[] };

/** Each acts once, at any time of the loss, and those that flip again and again until its end. */
async function act({ untilMs, flips, once }: Acting): Promise<void> {
  const random = seededRandom(1);
  const fromMs = Date.now();
  const plan = once
    .map((actor) => ({ actor, atMs: fromMs + random.next() * (untilMs - fromMs) }))
    .concat(flips.flatMap((actor) => turns(fromMs, untilMs, random.next).map((atMs) => ({ actor, atMs }))))
    .sort((a, b) => a.atMs - b.atMs);
  for (const { actor, atMs } of plan) {
    const waitMs = atMs - Date.now();
    if (waitMs > 0) await sleep(systemClock, waitMs);
    await actor.act();
  }
  await sleep(systemClock, Math.max(0, untilMs - Date.now()));
}

function turns(fromMs: number, untilMs: number, chance: () => number): readonly number[] {
  const nextMs = fromMs + (0.5 + chance()) * flipMs;
  return nextMs >= untilMs ? [] : [nextMs, ...turns(nextMs, untilMs, chance)];
}

/** By name. */
const viewsOf = async ({ api }: Stage): Promise<ReadonlyMap<string, TargetView>> =>
  new Map((await listTargets(api)).map((view) => [view.metadata.name, view]));

/** Since when each target is shown as it is, ascending; those that are not in the end are left out. */
async function follow(stage: Stage, actors: readonly Actor[]): Promise<readonly number[]> {
  const beganMs = Date.now();
  const since = new Map<string, number>();
  while (Date.now() - beganMs < rightWithinMs) {
    const views = await viewsOf(stage);
    for (const { name, truth } of actors) {
      if (!truth(views.get(name))) since.delete(name);
      else if (!since.has(name)) since.set(name, Date.now() - beganMs);
    }
    await sleep(systemClock, lookMs);
  }
  return [...since.values()].sort((a, b) => a - b);
}

/** Enough to see whether its change was not committed, not published or not taken in. */
async function firstWrong(stage: Stage, actors: readonly Actor[]): Promise<readonly Figure[]> {
  const views = await viewsOf(stage);
  const wrong = actors.find(({ name, truth }) => !truth(views.get(name)));
  if (!wrong) return [unjudged('the first that is not right', 'right since')];
  const state = await readTarget(stage.store, targetAddress(namespace, wrong.name));
  const published = stage.bus.taken.filter(({ detail }) => 'target' in detail && detail.target.name === wrong.name);
  const { acked, outbox } = state?.status ?? {};
  const versions = Object.entries(state?.probes ?? {}).map(([name, { version }]) => `${name} ${version}`);
  return [
    unjudged('the first that is not right', `${wrong.name}: ${versions}, ${JSON.stringify({ acked, outbox })}`),
    unjudged(
      'its last events',
      published
        .slice(-5)
        .map(({ detailType, timeMs }) => `${detailType} ${timeMs}`)
        .join(', '),
    ),
    unjudged('that was found at', `${Date.now()}`),
    unjudged(
      'warnings',
      stage
        .warnings()
        .slice(-5)
        .map((line) => JSON.stringify(line))
        .join(' '),
    ),
  ];
}

/** Versions that STATUS has not acked, and outboxes that are not empty. */
async function openIn({ store }: Stage, actors: readonly Actor[]): Promise<number> {
  const states = await Promise.all(actors.map(({ name }) => readTarget(store, targetAddress(namespace, name))));
  return states.reduce((sum, state) => {
    if (!state) return sum;
    const unacked = Object.entries(state.probes).filter(([name, { version }]) => state.status.acked[name] !== version);
    return sum + unacked.length + state.status.outbox.length;
  }, 0);
}
