/**
 * Counts what each component of a simulated world does: calls by what they ask for, capacity units of the table, and
 * CPU of the model.
 */

import { writeUnits } from '../../shared/store/dynamodb/capacity.ts';
import { itemBytes } from '../../shared/store/item-size.ts';
import type { Item, Store } from '../../shared/store/store.ts';
import { getSite, querySite, writeSite } from '../sim/store.ts';
import type { AppliedWrite } from '../sim/table.ts';
import type { World } from '../sim/world.ts';
import { readUnits } from '../support/unit-counter.ts';

export const components = ['api', 'schedule', 'prober', 'status-sync'] as const;
export type Component = (typeof components)[number];

/** Of one kind of call. `reads`, `writes`: capacity units. */
export type Count = { readonly calls: number; readonly reads: number; readonly writes: number };

export type ComponentCounts = {
  readonly sites: ReadonlyMap<string, Count>;
  /** ms of one vCPU. */
  readonly cpuMs: number;
  /** The most that one read of the table has returned, bytes. */
  readonly readBytesMax: number;
};

export type Counts = Readonly<Record<Component, ComponentCounts>>;

/** By role of the simulated processes. Lambda's own polls of the queues are not counted. */
const componentOf: Readonly<Record<string, Component>> = {
  ...{ api: 'api', schedule: 'schedule', worker: 'prober', sync: 'status-sync' },
};

type Units = { reads: number; writes: number };

export function unitWatch() {
  const units = new Map<string, Units>();
  const readBytesMax = new Map<Component, number>();

  const unitsOf = (component: Component, site: string): Units => {
    const name = nameOf(component, site);
    const known = units.get(name) ?? { reads: 0, writes: 0 };
    units.set(name, known);
    return known;
  };
  const read = (role: string, site: string, { items, stale = false }: { items: readonly Item[]; stale?: boolean }) => {
    const component = componentOf[role];
    if (!component) return;
    const bytes = items.reduce((sum, item) => sum + itemBytes(item), 0);
    unitsOf(component, site).reads += readUnits(bytes, stale);
    readBytesMax.set(component, Math.max(bytes, readBytesMax.get(component) ?? 0));
  };

  return {
    watchStore: (store: Store, role: string): Store => ({
      async get(key, options) {
        const item = await store.get(key, options);
        read(role, getSite(key), { items: item ? [item] : [], stale: options?.eventuallyConsistent ?? false });
        return item;
      },
      async query(query) {
        const items = await store.query(query);
        read(role, querySite(query), { items, stale: query.eventuallyConsistent ?? false });
        return items;
      },
      write: (operations, options) => store.write(operations, options),
    }),
    /** Writes are counted where the table has applied them: an update is billed by the size of its whole item. */
    applied({ writer, operations, changes }: AppliedWrite): void {
      const component = componentOf[writer.slice(0, writer.indexOf('-'))];
      if (!component) return;
      const isTransaction = operations.length > 1;
      const checks = operations.length - changes.length;
      const written = changes.reduce(
        (sum, { before, after }) => sum + writeUnits(Math.max(sizeOf(before), sizeOf(after)), isTransaction),
        0,
      );
      unitsOf(component, writeSite(operations)).writes += written + checks * writeUnits(0, isTransaction);
    },
    /** Everything since the beginning of the world. */
    counts({ crashPoints, population }: Pick<World, 'crashPoints' | 'population'>): Counts {
      const cpu = new Map<Component, number>();
      for (const { role, life } of population.processes) {
        const component = componentOf[role];
        if (component) cpu.set(component, (cpu.get(component) ?? 0) + (life()?.loop?.usedMs() ?? 0));
      }
      const sites = new Map(components.map((component) => [component, new Map<string, Count>()] as const));
      for (const [place, { passed }] of crashPoints.coverage()) {
        const { role, site } = placeOf(place);
        const component = componentOf[role];
        if (!component || !place.endsWith(before)) continue;
        const { reads = 0, writes = 0 } = units.get(nameOf(component, site)) ?? {};
        sites.get(component)?.set(site, { calls: passed, reads, writes });
      }
      const of = (component: Component): ComponentCounts => ({
        sites: sites.get(component) ?? new Map(),
        cpuMs: cpu.get(component) ?? 0,
        readBytesMax: readBytesMax.get(component) ?? 0,
      });
      return mapComponents(of);
    },
  };
}

const nameOf = (component: Component, site: string): string => `${component}: ${site}`;

const before = ', before';

/** As test/sim/crash-points.ts names them: `role: site, moment`. */
function placeOf(place: string): { readonly role: string; readonly site: string } {
  const colon = place.indexOf(': ');
  return { role: place.slice(0, colon), site: place.slice(colon + 2, place.lastIndexOf(',')) };
}

const sizeOf = (item: Item | undefined): number => (item ? itemBytes(item) : 0);

/** What was done between two counts, a minute. */
export function perMinute(from: Counts, to: Counts, minutes: number): Counts {
  const of = (component: Component): ComponentCounts => {
    const [first, last] = [from[component], to[component]];
    const sites = [...last.sites].map(([site, count]) => {
      const { calls = 0, reads = 0, writes = 0 } = first.sites.get(site) ?? {};
      const part = (now: number, then: number) => (now - then) / minutes;
      return [
        site,
        { calls: part(count.calls, calls), reads: part(count.reads, reads), writes: part(count.writes, writes) },
      ] as const;
    });
    return {
      sites: new Map(sites.filter(([, { calls }]) => calls > 0)),
      cpuMs: (last.cpuMs - first.cpuMs) / minutes,
      readBytesMax: last.readBytesMax,
    };
  };
  return mapComponents(of);
}

export const mapComponents = <Value>(
  of: (component: Component) => Value,
): { readonly [component in Component]: Value } => ({
  api: of('api'),
  schedule: of('schedule'),
  prober: of('prober'),
  'status-sync': of('status-sync'),
});

export function totalOf({ sites }: Pick<ComponentCounts, 'sites'>): Count {
  const sum = (field: keyof Count) => [...sites.values()].reduce((total, count) => total + count[field], 0);
  return { calls: sum('calls'), reads: sum('reads'), writes: sum('writes') };
}
