/**
 * The places where a process can die or stand still: each call of a port, before its request leaves and before its answer is looked at,
 * for each role of process. Those that were least often such a place come first.
 */
import type { Chance } from './chance.ts';
import type { Scheduler } from './clock.ts';
import type { AtCrashPoint, Moment, Process } from './process.ts';

export type CrashPoints = {
  readonly at: AtCrashPoint;
  /** The next time that the process comes to one of its less known places, it happens. */
  arm(process: Process, act: () => void): void;
  /** By `role: site, moment`, how often it was passed and how often something happened there. */
  coverage(): ReadonlyMap<string, CrashPoint>;
};

export type CrashPoint = { passed: number; struck: number };

type Place = { readonly name: string; readonly point: CrashPoint };

type Armed = { readonly name: string; readonly process: Process; readonly act: () => void; readonly untilMs: number };

/** A place that is not met for so long is given up: any will do. */
const patienceMs = 60_000;

export function crashPoints(scheduler: Scheduler, chance: Chance): CrashPoints {
  const points = new Map<string, CrashPoint>();
  /** By role and site, the two moments. */
  const sites = new Map<string, Map<string, Readonly<Record<Moment, Place>>>>();
  let armed: readonly Armed[] = [];

  const placesOf = (role: string): Map<string, Readonly<Record<Moment, Place>>> => {
    const known = sites.get(role) ?? new Map<string, Readonly<Record<Moment, Place>>>();
    sites.set(role, known);
    return known;
  };
  const newPlace = (name: string): Place => {
    const point = { passed: 0, struck: 0 };
    points.set(name, point);
    return { name, point };
  };
  const placeOf = (role: string, site: string, moment: Moment): Place => {
    const known = sites.get(role)?.get(site);
    if (known) return known[moment];
    const places = { before: newPlace(`${role}: ${site}, before`), after: newPlace(`${role}: ${site}, after`) };
    placesOf(role).set(site, places);
    return places[moment];
  };

  return {
    at(life, site, moment) {
      const { name, point } = placeOf(life.role, site, moment);
      point.passed += 1;
      if (armed.length === 0) return;
      const nowMs = scheduler.nowMs();
      const hit = armed.find((one) => one.process.life() === life && (one.name === name || one.untilMs < nowMs));
      if (!hit) return;
      armed = armed.filter((one) => one !== hit);
      point.struck += 1;
      hit.act();
    },
    arm(process, act) {
      const known = [...placesOf(process.role).values()].flatMap(({ before, after }) => [before, after]);
      const fewest = Math.min(...known.map(({ point }) => point.struck));
      const rare = known.filter(({ point }) => point.struck === fewest);
      const { name } = rare.length === 0 ? { name: '' } : chance.pick(rare);
      armed = [...armed, { name, process, act, untilMs: scheduler.nowMs() + patienceMs }];
    },
    coverage: () => points,
  };
}
