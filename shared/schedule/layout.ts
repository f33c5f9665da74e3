/**
 * The stored LAYOUT. The schedule writes it by compare-and-set on its version; runs add to its `token`, which nothing
 * in this file changes.
 */
import { isWhole, type Layout, type LayoutContext, planLayout } from '../core/shards/layout.ts';
import { nextRollout, type Rollout, type Shown } from '../core/shards/rollout.ts';
import { bucketCount } from '../core/shards/slots.ts';
import { type BucketWeight, noWeight } from '../core/shards/weight.ts';
import type { Log } from '../lib/log.ts';
import { decodeLayout, encodeLayout, generationAttribute, updateTo } from '../store/records/items.ts';
import { layoutKey } from '../store/records/keys.ts';
import { type Condition, type Item, type Operation, StoreUnavailable } from '../store/store.ts';
import { writeSurely } from '../table/write.ts';
import { readWeights, WeighingTooSlow, type WeightPorts } from './weights.ts';

export type LayoutPorts = WeightPorts & { readonly log: Log };

export type LayoutOptions = {
  readonly capacity: LayoutContext['capacity'];
  readonly mode: LayoutContext['mode'];
  /** The release that the runs are to have: first one of them, then all. */
  readonly desiredRelease: string;
  /** The RUN of a shard; undefined: there is none. */
  readonly runOf: (shard: string) => Shown | undefined;
};

export type StoredLayout = StandingLayout & Rollout & { readonly item?: Item };

/** `announced`: see LayoutRecord. */
export type StandingLayout = Layout & { readonly announced?: number };

/**
 * Weighs the targets and writes the layout that they require, if it differs. Of two schedules at the same time one
 * writes; the other returns the stored layout.
 */
export async function nextLayout(
  ports: LayoutPorts,
  stored: StoredLayout,
  options: LayoutOptions,
): Promise<StandingLayout> {
  const wanted = await wantedLayout(ports, stored, options);
  const { shards } = wanted;
  const context = { wanted: options.desiredRelease, shards, runOf: options.runOf, nowMs: ports.clock.nowMs() };
  const rollout = nextRollout(stored, context);
  if (wanted === stored && rollout === stored) return stored;
  const version = stored.version + 1;
  const written = await writeLayout(ports, stored, { ...releasesOf(rollout), version, shards });
  if (!written) return readLayout(ports);
  ports.log.info('layout written', { version, shards: shards.length, ...releasesOf(rollout) });
  if (rollout.refused !== undefined && rollout.refused !== stored.refused)
    ports.log.warn('release refused', { release: rollout.refused, shard: stored.trial?.shard });
  return { version, shards };
}

/**
 * Stores that all messages of this layout have been sent, so that holders of removed shards may leave. Until then they
 * stay: a schedule that dies between its write and its messages leaves no bucket without a holder. A failure is
 * repaired a minute later.
 */
export async function announceLayout(ports: LayoutPorts, { version, announced }: StandingLayout): Promise<void> {
  if (announced === version) return;
  const sameLayout: Condition = { kind: 'equals', attribute: 'version', value: version };
  try {
    const set = { announced: version, announcedAtMs: ports.clock.nowMs() };
    await writeSurely(ports, [{ kind: 'update', key: layoutKey, set, if: [sameLayout] }]);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    ports.log.warn('layout not announced', { version, cause: error });
  }
}

const releasesOf = ({ desiredRelease, trial, refused }: Rollout): Rollout => ({
  desiredRelease,
  ...(trial && { trial }),
  ...(refused !== undefined && { refused }),
});

/** If weights cannot be read, the layout stays as it is: that every shard is held matters more than how well. */
async function wantedLayout(ports: LayoutPorts, stored: StoredLayout, options: LayoutOptions): Promise<Layout> {
  try {
    const weights = needsWeights(options) ? await readWeights(ports) : noWeights;
    return planLayout(stored, weights, { capacity: options.capacity, mode: options.mode, nowMs: ports.clock.nowMs() });
  } catch (error) {
    const isExpected = error instanceof StoreUnavailable || error instanceof WeighingTooSlow;
    if (!isExpected || stored.shards.length === 0) throw error;
    ports.log.warn('weights not read', { cause: error });
    return stored;
  }
}

/** A resident holder without limits keeps the same layout whatever the targets require. */
const needsWeights = ({ capacity, mode }: LayoutOptions): boolean =>
  mode !== 'resident' || Number.isFinite(capacity.cpu) || Number.isFinite(capacity.sockets);

const noWeights: readonly BucketWeight[] = Array.from({ length: bucketCount }, () => noWeight);

export async function readLayout({ store, log }: LayoutPorts): Promise<StoredLayout> {
  const item = await store.get(layoutKey);
  if (!item) return { version: 0, shards: [], desiredRelease: '' };
  const decoded = decodeLayout(item);
  if (decoded.kind === 'ok' && isWhole(decoded.record.shards)) return { ...decoded.record, item };
  log.error('layout rebuilt: the stored one cannot be read', { item });
  return { version: newestGeneration(item), shards: [], desiredRelease: '', item };
}

/** The newest generation that any layout, readable or not, has given to a shard; the next one must be newer. */
const newestGeneration = (item: Item): number =>
  Math.max(0, ...generations(item).map(([, generation]) => generation), Number(item.version) || 0);

const generations = (item: Item): readonly (readonly [attribute: string, generation: number])[] =>
  Object.entries(item).flatMap(([name, value]) =>
    name.startsWith(generationAttribute('')) && typeof value === 'number' ? [[name, value] as const] : [],
  );

/** false: another schedule has written it meanwhile, or the write is in doubt; read the stored layout. */
async function writeLayout(ports: LayoutPorts, { item }: StoredLayout, next: Layout & Rollout): Promise<boolean> {
  const outcome = await writeSurely(ports, [layoutWrite(item, next)]);
  return outcome.kind === 'written';
}

function layoutWrite(item: Item | undefined, next: Layout & Rollout): Operation {
  const encoded = encodeLayout({ ...next, announced: announcedIn(item), token: 0 });
  if (!item) return { kind: 'put', item: encoded, if: [{ kind: 'notExists' }] };
  const { kind, key, set } = updateTo(encoded);
  const { token: _, ...rest } = set ?? {};
  const names = ['trial', 'refused', ...generations(item).map(([name]) => name)];
  const gone = names.filter((name) => item[name] !== undefined && !Object.hasOwn(rest, name));
  return { kind, key, set: rest, ...(gone.length > 0 && { remove: gone }), if: [sameVersion(item)] };
}

const announcedIn = (item: Item | undefined): number => (typeof item?.announced === 'number' ? item.announced : 0);

function sameVersion({ version }: Item): Condition {
  const attribute = 'version';
  return typeof version === 'number' ? { kind: 'equals', attribute, value: version } : { kind: 'absent', attribute };
}
