/** Simulates a fleet of one size for some minutes and counts what its components do. */
import { bucketCount } from '../../shared/core/shards/slots.ts';
import { itemBytes } from '../../shared/store/item-size.ts';
import { changesPk, layoutKey, weightsPk } from '../../shared/store/records/keys.ts';
import type { Item } from '../../shared/store/store.ts';
import { targetPath } from '../support/api-client.ts';
import { nameOf } from '../support/settled-targets.ts';
import { type Component, type Count, type Counts, mapComponents, perMinute } from './counts.ts';
import { endpointOf, fleetWorld, minuteMs, periodSeconds, plannedFleet, port, type SimulatedWorld } from './fleet.ts';
import { isOfChanges, loadSite } from './growth.ts';
import { loadsPerSlot, slotMinutes } from './sizes.ts';

export type SimulatedFleet = {
  readonly targets: number;
  /** Of the prober, MB. */
  readonly memorySize: number;
  readonly shards: number;
  /** Simulated after every target was held. */
  readonly minutes: number;
  /** An average minute, with `changesPerDay` and `putsPerWeek` of each target. */
  readonly minute: Counts;
  /** Of one load of all targets by the prober, capacity units. */
  readonly loadUnits: number;
  /** CPU of the schedule for one bucket of average size, ms of one vCPU. */
  readonly weighMs: number;
  /** Of the items that have the name, together. */
  readonly bytes: { readonly layout: number; readonly changes: number; readonly weights: number };
  /** Absent: not measured. */
  readonly registering?: Registering;
  readonly listing?: Listing;
  /** Logged errors. */
  readonly problems: readonly string[];
};

/**
 * `each`: for one new target, up to its first status. `syncsPerSecond`: of status-sync, while targets are registered as
 * fast as the API admits.
 */
export type Registering = {
  readonly each: { readonly [component in Component]: Count };
  readonly syncsPerSecond: number;
};

/** One page of the list of all targets. */
export type Listing = { readonly targets: number; readonly reads: number; readonly cpuMs: number; readonly ms: number };

export type SimulateFleetOptions = { readonly targets: number; readonly minutes: number; readonly requests: boolean };

export const changesPerDay = 1;
export const putsPerWeek = 1;
const dayMinutes = 24 * 60;
/** Until all shards are held and loaded. */
const startMinutes = 1;
/** A target that fails does so for this long: its readiness turns after three failures. */
const failsForMs = 60_000;
const registered = 2_000;
/** As the API admits requests: cdk/target-api.ts. */
export const requestsPerSecond = 50;
/** By then the first results come as fast as the registrations, and status-sync has a backlog. */
const backlogMs = 20_000;
/** Until the first status of the last registered target is stored. */
const settleMinutes = 2;
const pageLimit = 500;
const pagesMax = 10;

export async function simulateFleet({ targets, minutes, requests }: SimulateFleetOptions): Promise<SimulatedFleet> {
  const simulated = await fleetWorld(targets);
  const { world, watch } = simulated;
  const counts = () => watch.counts(world);
  const pass = (forMinutes: number) => world.scheduler.runUntil(world.scheduler.nowMs() + forMinutes * minuteMs);
  const none = counts();
  await pass(startMinutes);
  const begun = counts();
  change(simulated, targets, minutes);
  await pass(minutes);
  const ended = counts();
  const loadUnits = perMinute(none, begun, 1).prober.sites.get(loadSite)?.reads ?? 0;
  const own = { shards: shardsIn(world), bytes: bytesIn(world) };
  const more = requests && {
    registering: await registering(simulated),
    listing: await listing(simulated),
  };
  return {
    targets,
    memorySize: plannedFleet(targets).memorySize,
    minutes,
    minute: withLoads(perMinute(begun, ended, minutes), loadUnits),
    loadUnits,
    weighMs: simulated.weighMs,
    ...own,
    ...more,
    problems: world.problems,
  };
}

/** The loads of an average minute, instead of those that happened to be in the simulated ones. */
function withLoads(minute: Counts, loadUnits: number): Counts {
  const perMinute = loadsPerSlot / slotMinutes;
  const loads = { calls: bucketCount * perMinute, reads: loadUnits * perMinute, writes: 0 };
  return { ...minute, prober: { ...minute.prober, sites: new Map([...minute.prober.sites, [loadSite, loads]]) } };
}

/** Spread over the first of the minutes: targets that fail and recover, and changed specs. */
function change({ world }: SimulatedWorld, targets: number, minutes: number): void {
  const { scheduler, network, client } = world;
  const spread = (count: number, act: (at: number) => void) => {
    for (let each = 0; each < count; each += 1) {
      const at = Math.floor((each * targets) / count);
      scheduler.after((each * minuteMs) / count, { label: 'change', deliver: () => act(at) });
    }
  };
  const flips = Math.max(1, Math.round((targets * minutes * changesPerDay) / dayMinutes / 2));
  spread(flips, (at) => {
    const endpoint = endpointOf(nameOf(at));
    network.set(endpoint, 'failing');
    scheduler.after(failsForMs, { label: 'recovery', deliver: () => network.set(endpoint, 'healthy') });
  });
  const puts = Math.max(1, Math.round((targets * minutes * putsPerWeek) / (7 * dayMinutes)));
  spread(puts, (at) => {
    const body = { spec: specOf(nameOf(at), { failureThreshold: 4 }) };
    void client.insist({ method: 'PUT', path: targetPath(nameOf(at)), body });
  });
}

const specOf = (host: string, more: object = {}) => ({
  host,
  readinessProbe: { httpGet: { port }, periodSeconds, ...more },
});

async function registering({ world, watch }: SimulatedWorld): Promise<Registering> {
  const { scheduler, network, client } = world;
  const before = watch.counts(world);
  for (let at = 0; at < registered; at += 1) {
    const name = `new-${at}`;
    const deliver = () => void client.insist({ method: 'PUT', path: targetPath(name), body: { spec: specOf(name) } });
    network.set(endpointOf(name), 'healthy');
    scheduler.after((1_000 * at) / requestsPerSecond, { label: 'registration', deliver });
  }
  const pass = (ms: number) => scheduler.runUntil(scheduler.nowMs() + ms);
  await pass(backlogMs);
  const behind = watch.counts(world);
  await pass((1_000 * registered) / requestsPerSecond - backlogMs);
  const { sites } = perMinute(behind, watch.counts(world), 1)['status-sync'];
  const syncs = sites.get('query target')?.calls ?? 0;
  await pass(settleMinutes * minuteMs);
  const all = perMinute(before, watch.counts(world), 1);
  const each = mapComponents((component) => {
    const own = [...all[component].sites].filter(([site]) => isOfChanges(component, site)).map(([, count]) => count);
    const part = (field: keyof Count) => own.reduce((sum, count) => sum + count[field], 0) / registered;
    return { calls: part('calls'), reads: part('reads'), writes: part('writes') };
  });
  return { each, syncsPerSecond: syncs / (registered / requestsPerSecond - backlogMs / 1_000) };
}

async function listing({ world, watch }: SimulatedWorld): Promise<Listing> {
  const { scheduler, client } = world;
  const before = watch.counts(world).api;
  const beganMs = scheduler.nowMs();
  const read = { targets: 0, pages: 0, isDone: false };
  const readAll = async () => {
    for (let more = ''; read.pages < pagesMax; ) {
      const answer = await client.insist({ method: 'GET', path: `/v1/targets?limit=${pageLimit}${more}` });
      if (answer?.status !== 200) throw new Error(`the list was answered with ${answer?.status}`);
      const { items, metadata } = answer.body as ListBody;
      read.targets += items.length;
      read.pages += 1;
      if (metadata.continue === undefined) break;
      more = `&continue=${encodeURIComponent(metadata.continue)}`;
    }
    read.isDone = true;
  };
  const reading = readAll();
  while (!read.isDone) await scheduler.runUntil(scheduler.nowMs() + stepMs);
  await reading;
  const after = watch.counts(world).api;
  const reads = readsOf(after) - readsOf(before);
  const { pages } = read;
  const ms = (scheduler.nowMs() - beganMs) / pages;
  return { targets: read.targets / pages, reads: reads / pages, cpuMs: (after.cpuMs - before.cpuMs) / pages, ms };
}

type ListBody = { readonly items: readonly unknown[]; readonly metadata: { readonly continue?: string } };

const stepMs = 100;

const readsOf = ({ sites }: Counts[Component]): number =>
  [...sites.values()].reduce((sum, { reads }) => sum + reads, 0);

const shardsIn = ({ table }: SimulatedWorld['world']): number => {
  const shards = table.get(layoutKey)?.shards;
  return Array.isArray(shards) ? shards.length : 0;
};

function bytesIn({ table }: SimulatedWorld['world']): SimulatedFleet['bytes'] {
  const sum = (items: readonly Item[]) => items.reduce((bytes, item) => bytes + itemBytes(item), 0);
  const layout = table.get(layoutKey);
  return {
    layout: layout ? itemBytes(layout) : 0,
    changes: sum(table.query({ pk: changesPk })),
    weights: sum(table.query({ pk: weightsPk })),
  };
}
