/** One seed: a world, its checkers, and what came of it. */
import type { Item } from '../../shared/store/store.ts';
import { chanceOf } from './chance.ts';
import type { Facts, Watch } from './checkers/checker.ts';
import { checkers, wallClockCheckers } from './checkers/checkers.ts';
import { smallSkewMs } from './checkers/skew.ts';
import type { CrashPoint } from './crash-points.ts';
import { faultLog, type Lock } from './fault-log.ts';
import type { FaultKind, Profile } from './faults.ts';
import { ledgerOf } from './ledger.ts';
import { type Measured, measure } from './measure.ts';
import { settings, type WorldName } from './setting.ts';
import { buildWorld, type World } from './world.ts';

export type Violation = { readonly invariant: string; readonly timeMs: number; readonly detail: string };

export type Outcome = {
  readonly seed: number;
  readonly hours: number;
  readonly world: WorldName;
  readonly violations: readonly Violation[];
  /** Unexpected exceptions. */
  readonly problems: readonly string[];
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly crashPoints: ReadonlyMap<string, CrashPoint>;
  readonly measured: Measured;
  /** Of the table, by whether it had capacity for them; none where it takes whatever is asked of it. */
  readonly calls: World['calls'];
  readonly traceHash: string;
};

export type SimulateOptions = {
  readonly seed: number;
  readonly hours: number;
  readonly world?: WorldName;
  readonly onLine?: (line: string) => void;
  /** Instead of what the seed decides. */
  readonly profile?: Profile;
  /** Ends with the minute of the first violation instead of with its hour. */
  readonly untilViolated?: boolean;
};

const hourMs = 3_600_000;
const minuteMs = 60_000;
const violationsMax = 20;
const tickMs = 10_000;
/** Longer than the longest visibility of a message and its effects. */
const locksKeptMs = 1_800_000;

export async function simulate({
  seed,
  hours,
  world: worldName = 'small',
  onLine,
  profile = profileOf(seed, hours, worldName),
  untilViolated = false,
}: SimulateOptions): Promise<Outcome> {
  const violations: Violation[] = [];
  const world = buildWorld({ seed, profile, setting: settings[worldName], ...(onLine && { onLine }) });
  const { scheduler, table, network } = world;
  const ledger = ledgerOf(table, scheduler.nowMs);
  let lockedMs = Number.NEGATIVE_INFINITY;
  /** By when they began. */
  const locks = new Map<number, Lock>();
  const facts: Facts = {
    ledger,
    table,
    network,
    profile,
    nowMs: scheduler.nowMs,
    faults: faultLog(world.faults, {
      lockedMs: () => lockedMs,
      locks: () => [...locks.values()],
      doubledMs: world.queue.doubledMs,
    }),
    calls: world.calls,
    computingTakesTime: settings[worldName].cpu !== undefined,
  };
  const watches = Object.entries({ ...checkers, ...(hasGoodClocks(profile) && wallClockCheckers) }).map(
    ([invariant, checker]): Watch =>
      checker(facts, (detail) => {
        const timeMs = scheduler.nowMs();
        scheduler.trace(`${timeMs} VIOLATION ${invariant}: ${detail}`);
        if (violations.length < violationsMax) violations.push({ invariant, timeMs, detail });
      }),
  );
  const { watch: measuring, measured } = measure(facts);
  notifyAll(world, ledger, [...watches, measuring]);
  const ticks = watches.flatMap(({ ticked }) => ticked ?? []);
  const tick = () => {
    if (world.queue.isLocked()) lockedMs = scheduler.nowMs();
    for (const { sinceMs, wasHeld } of world.queue.locks())
      locks.set(sinceMs, { fromMs: sinceMs, toMs: scheduler.nowMs(), wasHeld });
    for (const sinceMs of locks.keys()) if (sinceMs < scheduler.nowMs() - locksKeptMs) locks.delete(sinceMs);
    for (const ticked of ticks) ticked();
    scheduler.after(tickMs, { label: 'checkers', deliver: tick });
  };
  tick();
  const isFailed = () => violations.length > 0 || world.problems.length > 0;
  for (let hour = 1; hour <= hours; hour += 1) {
    for (let minute = 1; untilViolated && minute < 60 && !isFailed(); minute += 1)
      await scheduler.runUntil((hour - 1) * hourMs + minute * minuteMs);
    if (untilViolated && isFailed()) break;
    // The last moment of the calm: the next storm begins with the next hour.
    await scheduler.runUntil(hour * hourMs - 1);
    if (world.faults.isCalm()) for (const { settled } of watches) settled?.();
    if (violations.length > 0) break;
  }
  return {
    seed,
    hours,
    world: worldName,
    violations,
    problems: world.problems,
    faults: world.faults.counts(),
    crashPoints: world.crashPoints.coverage(),
    measured: measured(),
    calls: world.calls,
    traceHash: scheduler.traceHash(),
  };
}

const largeSkewMs = 300_000;

const hasGoodClocks = ({ skewMsMax, clockSteps }: Profile): boolean => skewMsMax <= smallSkewMs && !clockSteps;

function profileOf(seed: number, hours: number, world: WorldName): Profile {
  const chance = chanceOf(seed, 'profile');
  // Large skews disable half of the rules, so only the small world, whose hours are cheap, has them.
  const skewMsMax = chance.happens(0.6) || world !== 'small' ? smallSkewMs : largeSkewMs;
  return {
    skewMsMax,
    ...(skewMsMax === largeSkewMs && { clockSteps: 'some' as const }),
    faultEveryMs: chance.pick([20_000, 40_000, 75_000]),
    stormMs: 40 * 60_000,
    selfDoubt: true,
    queueVisibilityMs: chance.pick([30_000, 900_000]),
    outageMs: hours >= 12 && chance.happens(0.3) ? chance.between(1, 3) * hourMs : 0,
  };
}

function notifyAll(
  world: ReturnType<typeof buildWorld>,
  ledger: ReturnType<typeof ledgerOf>,
  watches: readonly Watch[],
): void {
  const each = <Told>(pick: (watch: Watch) => ((told: Told) => void) | undefined) => {
    const listeners = watches.flatMap((watch) => pick(watch) ?? []);
    return (told: Told) => {
      for (const listener of listeners) listener(told);
    };
  };
  world.table.onApplied(({ timeMs, writer, changes }) => {
    for (const { key, after } of changes)
      world.scheduler.trace(`${timeMs} ${writer} wrote ${key.pk} ${key.sk} ${summaryOf(after)}`);
  });
  world.table.onApplied(ledger.applied);
  world.table.onApplied(each((watch) => watch.applied));
  world.bus.onPublished(each((watch) => watch.published));
  world.client.onAnswer(each((watch) => watch.answered));
  const askedOf = watches.flatMap(({ asked }) => asked ?? []);
  world.client.onAsked((asked, sentMs) => {
    for (const listener of askedOf) listener(asked, sentMs);
  });
  const [probeStarted, lookStarted] = [each((watch) => watch.probeStarted), each((watch) => watch.lookStarted)];
  const [probeSeen, lookSeen] = [each((watch) => watch.probeSeen), each((watch) => watch.lookSeen)];
  const [probeAbandoned, lookAbandoned] = [each((watch) => watch.probeAbandoned), each((watch) => watch.lookAbandoned)];
  world.network.onStarted((start) => (start.isLook ? lookStarted : probeStarted)(start));
  world.network.onSeen((probe) => (probe.isLook ? lookSeen : probeSeen)(probe));
  world.network.onAbandoned((start) => (start.isLook ? lookAbandoned : probeAbandoned)(start));
  world.faults.onDone(each((watch) => watch.faultDone));
  world.onRun(each((watch) => watch.runStarted));
  world.onWoken(each((watch) => watch.scheduleWoken));
}

/** The attributes of an item that explain most in a trace. */
const told = [
  'token',
  'slot',
  'doneSlot',
  'version',
  'result',
  'containerID',
  'ended',
  'onHold',
  'lastResult',
  'resultRun',
  'streak',
];

function summaryOf(item: Item | undefined): string {
  if (!item) return 'deleted';
  return told.flatMap((name) => (item[name] === undefined ? [] : `${name}=${item[name]}`)).join(' ');
}
