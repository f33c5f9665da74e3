/**
 * The places where a process can die or stand still: each call of a port, before its request leaves and before its answer is looked at,
 * for each role of process. What is armed for a process waits for a place that was never struck; only when the next one is armed it takes
 * one of those that were struck least, and soon any.
 */
import type { Chance } from './chance.ts';
import type { Life, Scheduler } from './clock.ts';
import type { AtCrashPoint, Moment, Process } from './process.ts';

export type CrashPoints = {
  readonly at: AtCrashPoint;
  /** It happens at one of the process's less known places: `act` crashes or pauses it, or finds that it is too late for that. */
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
  /** Where it happens, beside what was never struck; undefined: nowhere else. */
  readonly elsewhere?: { readonly name: string; readonly untilMs: number };
};

/** A place that is not met for so long is given up: any will do. */
const patienceMs = 60_000;

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

  const leastStruck = (role: string): string => {
    const known = [...(sites.get(role)?.values() ?? [])].flatMap(({ before, after }) => [before, after]);
    const fewest = Math.min(...known.map(({ point }) => point.struck));
    const rare = known.filter(({ point }) => point.struck === fewest);
    return rare.length === 0 ? '' : chance.pick(rare).name;
  };

  const isIts = ({ elsewhere }: Armed, { name, point }: Place): boolean =>
    point.struck === 0 ||
    elsewhere?.name === name ||
    (elsewhere !== undefined && elsewhere.untilMs < scheduler.nowMs());

  const strike = (one: Armed, life: Life, { point }: Place) => {
    one.act();
    const isDone = !life.alive || life.pausedUntilMs > scheduler.nowMs();
    if (isDone) point.struck += 1;
    // Too late, in the calm: what waits for a place that was never struck goes on waiting.
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
      const elsewhere = { name: leastStruck(process.role), untilMs: scheduler.nowMs() + patienceMs };
      const earlier = armed.map((one) => (one.process === process && !one.elsewhere ? { ...one, elsewhere } : one));
      armed = [...earlier, { process, act }];
    },
    coverage: () => points,
  };
}
