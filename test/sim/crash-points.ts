/**
 * The places where a process can die or stand still: each call of a port, before its request leaves and before its answer is looked at,
 * for each role of process. Those that were least often such a place come first.
 */
import type { Chance } from './chance.ts';
import type { Life, Scheduler } from './clock.ts';
import type { AtCrashPoint, Moment, Process } from './process.ts';

export type CrashPoints = {
  readonly at: AtCrashPoint;
  /** The next time that the process comes to one of its less known places, it happens. */
  arm(process: Process, act: () => void): void;
  /** By `role: site, moment`, how often it was passed and how often something happened there. */
  coverage(): ReadonlyMap<string, CrashPoint>;
};

export type CrashPoint = { passed: number; struck: number };

type Armed = { readonly name: string; readonly process: Process; readonly act: () => void; readonly untilMs: number };

/** A place that is not met for so long is given up: any will do. */
const patienceMs = 60_000;

export function crashPoints(scheduler: Scheduler, chance: Chance): CrashPoints {
  const points = new Map<string, CrashPoint>();
  const byRole = new Map<string, { readonly name: string; readonly point: CrashPoint }[]>();
  const names = new Map<string, Map<string, readonly [before: string, after: string]>>();
  let armed: readonly Armed[] = [];

  const nameOf = (role: string, site: string, moment: Moment): string => {
    const ofRole = names.get(role) ?? new Map<string, readonly [string, string]>();
    names.set(role, ofRole);
    const known = ofRole.get(site) ?? ([`${role}: ${site}, before`, `${role}: ${site}, after`] as const);
    ofRole.set(site, known);
    return known[moment === 'before' ? 0 : 1];
  };

  const pointOf = (role: string, name: string): CrashPoint => {
    const known = points.get(name);
    if (known) return known;
    const point = { passed: 0, struck: 0 };
    points.set(name, point);
    byRole.set(role, [...(byRole.get(role) ?? []), { name, point }]);
    return point;
  };

  const strikes = (life: Life, name: string) => (one: Armed) =>
    one.process.life() === life && (one.name === name || one.untilMs < scheduler.nowMs());

  return {
    at(life, site, moment) {
      const name = nameOf(life.role, site, moment);
      const point = pointOf(life.role, name);
      point.passed += 1;
      if (armed.length === 0) return;
      const hit = armed.find(strikes(life, name));
      if (!hit) return;
      armed = armed.filter((one) => one !== hit);
      point.struck += 1;
      hit.act();
    },
    arm(process, act) {
      const known = byRole.get(process.role) ?? [];
      const fewest = Math.min(...known.map(({ point }) => point.struck));
      const rare = known.filter(({ point }) => point.struck === fewest);
      const { name } = rare.length === 0 ? { name: '' } : chance.pick(rare);
      armed = [...armed, { name, process, act, untilMs: scheduler.nowMs() + patienceMs }];
    },
    coverage: () => points,
  };
}
