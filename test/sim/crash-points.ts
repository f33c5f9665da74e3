/**
 * The places where a process can die or stand still: each call of a port, before its request leaves and before its
 * answer is read, by role. A fault armed for a process waits for a rarely passed place that was never struck. Once the
 * next one is armed it also takes a place that was struck least, and soon any.
 */
import type { Chance } from './chance.ts';
import type { Life, Scheduler } from './clock.ts';
import type { AtCrashPoint, Moment, Process } from './process.ts';

export type CrashPoints = {
  readonly at: AtCrashPoint;
  /** Acts at one of the process's rare places: `act` crashes or pauses it, or finds the storm over. */
  arm(process: Process, act: () => void): void;
  /** By `role: site, moment`, how often it was passed and how often something happened there. */
  coverage(): ReadonlyMap<string, CrashPoint>;
};

export type CrashPoint = { passed: number; struck: number };

type Place = { readonly name: string; readonly point: CrashPoint };

type Places = Readonly<Record<Moment, Place>>;

type Armed = {
  readonly process: Process;
  readonly act: () => void;
  /** Places passed no more often are rare; the others are struck anyway. */
  readonly rareMax: number;
  /** Where it happens, beside what was never struck; undefined: nowhere else. */
  readonly elsewhere?: { readonly name: string; readonly untilMs: number };
};

/** After this time without a match any place will do. */
const patienceMs = 60_000;

/** A place passed no more often than this is rare. */
const rareMin = 5;

export function crashPoints(scheduler: Pick<Scheduler, 'nowMs'>, chance: Pick<Chance, 'pick'>): CrashPoints {
  const points = new Map<string, CrashPoint>();
  /** By role and site. */
  const sites = new Map<string, Map<string, Places>>();
  let armed: readonly Armed[] = [];

  const newPlace = (name: string): Place => {
    const point = { passed: 0, struck: 0 };
    points.set(name, point);
    return { name, point };
  };
  const placeOf = (role: string, site: string, moment: Moment): Place => {
    const known = sites.get(role) ?? new Map<string, Places>();
    const places = known.get(site) ?? {
      before: newPlace(`${role}: ${site}, before`),
      after: newPlace(`${role}: ${site}, after`),
    };
    if (!known.has(site)) sites.set(role, known.set(site, places));
    return places[moment];
  };

  const placesOf = (role: string): readonly Place[] =>
    [...(sites.get(role)?.values() ?? [])].flatMap(({ before, after }) => [before, after]);

  const leastStruck = (known: readonly Place[]): string => {
    const fewest = Math.min(...known.map(({ point }) => point.struck));
    const rare = known.filter(({ point }) => point.struck === fewest);
    return rare.length === 0 ? '' : chance.pick(rare).name;
  };

  const isIts = ({ rareMax, elsewhere }: Armed, { name, point }: Place): boolean =>
    (point.struck === 0 && point.passed <= rareMax) ||
    elsewhere?.name === name ||
    (elsewhere !== undefined && elsewhere.untilMs < scheduler.nowMs());

  const strike = (one: Armed, life: Life, { point }: Place) => {
    one.act();
    const isDone = !life.alive || life.pausedUntilMs > scheduler.nowMs();
    if (isDone) point.struck += 1;
    // Too late, in the calm: a fault that waits for a new place keeps waiting.
    if (isDone || one.elsewhere) armed = armed.filter((other) => other !== one);
  };

  return {
    at(life, site, moment) {
      const place = placeOf(life.role, site, moment);
      place.point.passed += 1;
      const hit = armed.find((one) => one.process.life() === life && isIts(one, place));
      if (hit) strike(hit, life, place);
    },
    arm(process, act) {
      const known = placesOf(process.role);
      const elsewhere = { name: leastStruck(known), untilMs: scheduler.nowMs() + patienceMs };
      const earlier = armed.map((one) => (one.process === process && !one.elsewhere ? { ...one, elsewhere } : one));
      armed = [...earlier, { process, act, rareMax: medianPassed(known) }];
    },
    coverage: () => points,
  };
}

/** While little is known everything is rare. */
function medianPassed(known: readonly Place[]): number {
  const passed = known.map(({ point }) => point.passed).sort((one, other) => one - other);
  return Math.max(rareMin, passed[passed.length >> 1] ?? 0);
}
