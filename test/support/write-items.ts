/**
 * Writes items as this release writes them, for the releases after it to read: `node test/support/write-items.ts
 * RELEASE && biome check --write test/store/items`. They come from a simulated hour of several worlds and from a
 * registration with every handler: of each kind a few that show each attribute and, if it may be absent, its absence.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { rememberHang } from '../../shared/holder/probing/hung-probe.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import type { Item } from '../../shared/store/store.ts';
import { apiWorld, startMs, targetPath } from '../api/world.ts';
import { settings, type WorldName } from '../sim/setting.ts';
import { buildWorld } from '../sim/world.ts';

const itemsFolder = new URL('../store/items/', import.meta.url);

const worlds: readonly WorldName[] = ['small', 'watched', 'functions', 'tick', 'site'];
const hourMs = 3_600_000;
const profile = {
  ...{ skewMsMax: 2_000, faultEveryMs: 40_000, stormMs: hourMs, selfDoubt: true },
  ...{ queueVisibilityMs: 30_000, outageMs: 0 },
};

/** Attributes whose names are data. */
const isNamedByData =
  /^(acked|annotations|behind|entries|hangs|incarnations|labels|probeRequests|ranges|restartRequests)$/;

/** Where each object of a value is, and the attributes it has. */
function objectsIn(value: unknown, path = ''): readonly (readonly [path: string, names: readonly string[]])[] {
  if (Array.isArray(value)) return value.flatMap((element) => objectsIn(element, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value);
  const isData = isNamedByData.test(path.split('.').at(-1) ?? '') || path.endsWith('.detail');
  const below = members.flatMap(([name, member]) => objectsIn(member, isData ? `${path}.*` : `${path}.${name}`));
  return isData ? below : [[path, members.map(([name]) => name)], ...below];
}

/** What each item shows of its kind: `path.name` is there, or it is absent although another item has it. */
function shownBy(items: readonly Item[]): (item: Item) => readonly string[] {
  const known = new Map<string, Set<string>>();
  for (const [path, names] of items.flatMap((item) => objectsIn(item)))
    known.set(path, new Set([...(known.get(path) ?? []), ...names]));
  return (item) =>
    objectsIn(item).flatMap(([path, names]) =>
      [...(known.get(path) ?? [])].map((name) => `${names.includes(name) ? 'with' : 'without'} ${path}.${name}`),
    );
}

/** The shortest first, each that shows what none before it does. */
function chosen(items: readonly Item[]): readonly Item[] {
  const shownOf = shownBy(items);
  const seen = new Set<string>();
  return items
    .toSorted((one, other) => JSON.stringify(one).length - JSON.stringify(other).length)
    .filter((item) => {
      const shown = shownOf(item);
      const isNew = shown.some((what) => !seen.has(what));
      for (const what of shown) seen.add(what);
      return isNew;
    });
}

const handlers = {
  startupProbe: { exec: { command: ['/bin/true'] } },
  readinessProbe: { httpGet: { port: 'web', host: 'localhost', httpHeaders: [{ name: 'X-Probe', value: '1' }] } },
  livenessProbe: { tcpSocket: { port: 80, host: 'localhost' }, terminationGracePeriodSeconds: 5 },
};
const manifest = {
  metadata: { labels: { app: 'shop' }, annotations: { owner: 'team' } },
  spec: {
    host: '127.0.0.1',
    readinessGates: [{ conditionType: 'example.com/warm' }],
    initContainers: [{ name: 'sidecar', restartPolicy: 'Always', livenessProbe: { grpc: { port: 81, service: 's' } } }],
    containers: [
      {
        name: 'app',
        ports: [{ name: 'web', containerPort: 80 }, { containerPort: 81 }],
        env: [{ name: 'A', value: 'b' }],
        restartPolicy: 'OnFailure',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }],
        ...handlers,
      },
    ],
  },
};

/** A target with every handler, one probe of which has hung. */
async function registered(): Promise<readonly Item[]> {
  const { request, store, clock, items } = apiWorld();
  const answer = await request('PUT', targetPath('shop'), { body: manifest });
  if (!answer.ok) throw new Error(await answer.text());
  const { metadata } = (await answer.json()) as { readonly metadata: { readonly uid: string } };
  const probe = ['default', 'shop', metadata.uid, 1, 'app', 'liveness'].join('\n');
  await rememberHang({ store, clock, random: systemRandom }, probe, startMs);
  return items('shop');
}

async function writtenIn(name: WorldName): Promise<readonly Item[]> {
  const world = buildWorld({ seed: 1, profile, setting: settings[name] });
  const written = new Map<string, Item>();
  world.table.onApplied(({ changes }) => {
    // Items of the same attributes are alike.
    for (const { after } of changes) if (after) written.set(`${after.kind} ${JSON.stringify(objectsIn(after))}`, after);
  });
  await world.scheduler.runUntil(hourMs);
  return [...written.values()];
}

if (import.meta.main) {
  const release = process.argv[2];
  if (release === undefined) throw new Error('which release?');
  const items = [...(await registered())];
  for (const world of worlds) items.push(...(await writtenIn(world)));
  // The attributes of CHANGES are counters, by slice.
  const records = items.filter(({ kind }) => kind !== 'CHANGES');
  const byKind = Object.values(Object.groupBy(records, ({ kind }) => String(kind)));
  mkdirSync(itemsFolder, { recursive: true });
  const text = JSON.stringify(byKind.flatMap((ofKind = []) => chosen(ofKind)));
  writeFileSync(new URL(`${release}.json`, itemsFolder), text);
}
