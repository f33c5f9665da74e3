/** What the API shows of the targets during the trial: status, results, history, events and counters, with times. */
import assert from 'node:assert/strict';
import type { ContainerStatusView, ProbeStatusView, TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { ProbeType } from '../../../shared/core/spec/types.ts';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { targetPath } from '../../support/api-client.ts';
import { waitedForProcessorMs } from '../../support/processor-wait.ts';
import { probeTotals } from '../../support/scraped.ts';
import { answered } from '../api.ts';
import { type EpisodeEvent, subscribe } from '../kill/heard.ts';
import type { RealWorld } from '../real-world.ts';
import { conditionOf } from '../stage.ts';
import { type Row, uncountedSeconds } from './cases.ts';

export type Sample = {
  readonly atMs: number;
  readonly ready: string;
  readonly container: ContainerStatusView;
  readonly probes: readonly ProbeStatusView[];
};

/** A `Probe Result Changed`. */
export type Turn = { readonly atMs: number; readonly probeType: ProbeType; readonly result: string };

/** An entry of the history, as far as it is judged. */
export type Entry = {
  readonly time: string;
  readonly kind: string;
  readonly reason: string;
  readonly probeType?: ProbeType;
  readonly result?: string;
  readonly attempts: readonly object[];
};

export type History = { readonly atMs: number; readonly entries: readonly Entry[] };

/** A probe's counter that did not grow between two scrapes. */
export type Stall = { readonly probeType: ProbeType; readonly fromMs: number; readonly toMs: number };

export type Seen = {
  readonly samples: Sample[];
  readonly turns: Turn[];
  readonly histories: History[];
  readonly stalls: Stall[];
};

export type Observer = {
  of(name: string): Seen;
  readonly heard: readonly EpisodeEvent[];
  /** When the product has waited for a processor. The failure of a probe that is under way then does not count. */
  readonly starvedMs: readonly number[];
  /** The prober's doubts of itself and surges, by name of the event. */
  readonly warnings: readonly string[];
  /** Targets without a row whose result has changed to failure. */
  readonly disturbed: ReadonlySet<string>;
  stop(): Promise<void>;
};

export const namespace = 'trial';
const lookEveryMs = 500;
const scrapeEveryMs = 5_000;
const historyMax = 500;
/** A stall of 100 ms, which the product notices, fills half of one of these spans. */
const starvedEveryMs = 100;
const starvedMsMin = 50;

/** Looks at the targets of the rows until `stop`. An answer other than 200 ends the process. */
export function observe(world: RealWorld, rows: readonly Row[]): Observer {
  const seen = new Map<string, Seen>(
    rows.map(({ name }) => [name, { samples: [], turns: [], histories: [], stalls: [] }]),
  );
  const over = new AbortController();
  const warnings: string[] = [];
  const disturbed = new Set<string>();
  const subscriber = subscribe(world, () => false);
  const ids = new Set<string>();
  const unsubscribe = world.subscribe(({ 'detail-type': type, detail }) => {
    if (type === 'Prober Degraded' || type === 'Probe Surge Detected') warnings.push(type);
    if (type !== 'Probe Result Changed' || ids.has(detail.id)) return;
    // An event may come twice.
    ids.add(detail.id);
    const { target, probeType, result = 'unknown' } = detail;
    const turns = seen.get(target.name)?.turns;
    if (turns) turns.push({ atMs: Date.now(), probeType, result });
    else if (result === 'failure') disturbed.add(target.name);
  });
  const repeat = async (everyMs: number, look: () => Promise<void>) => {
    while (!over.signal.aborted) {
      const dueMs = Date.now() + everyMs;
      await look();
      await sleep(systemClock, Math.max(0, dueMs - Date.now()), over.signal);
    }
  };
  const counters = new Map<string, Counter>();
  const starvedMs: number[] = [];
  let waitedMs = waitedForProcessorMs(world.pid());
  const starve = async () => {
    const beforeMs = waitedMs;
    waitedMs = waitedForProcessorMs(world.pid());
    if (waitedMs - beforeMs >= starvedMsMin) starvedMs.push(Date.now());
  };
  const done = Promise.all([
    repeat(starvedEveryMs, starve),
    repeat(lookEveryMs, () => sample(world, seen)),
    repeat(scrapeEveryMs, () => scrape(world, rows, { seen, counters })),
    repeat(scrapeEveryMs, () => readHistories(world, seen)),
  ]);
  return {
    of: (name) => seen.get(name) as Seen,
    heard: subscriber.heard,
    starvedMs,
    warnings,
    disturbed,
    async stop() {
      over.abort();
      await done;
      unsubscribe();
      await subscriber.stop();
    },
  };
}

async function itemsAt<Item>({ api }: RealWorld, path: string): Promise<readonly Item[]> {
  return ((await answered(api, 200, ['GET', path])) as { readonly items: readonly Item[] }).items;
}

type SeenByName = ReadonlyMap<string, Seen>;

async function sample(world: RealWorld, seen: SeenByName): Promise<void> {
  const targets = await itemsAt<TargetView>(world, `/v1/namespaces/${namespace}/targets?limit=500`);
  const atMs = Date.now();
  for (const target of targets) {
    const [container] = target.status.containerStatuses;
    assert.ok(container);
    const ready = conditionOf(target, 'Ready')?.status ?? 'absent';
    seen.get(target.metadata.name)?.samples.push({ atMs, ready, container, probes: target.status.probes });
  }
}

async function readHistories(world: RealWorld, seen: SeenByName): Promise<void> {
  for (const [name, { histories }] of seen) {
    const entries = await itemsAt<Entry>(world, `${targetPath(name, namespace)}/events?limit=${historyMax}`);
    histories.push({ atMs: Date.now(), entries });
  }
}

type Counter = { readonly count: number; readonly grewMs: number };
type Counted = { readonly seen: SeenByName; readonly counters: Map<string, Counter> };

/** A startup probe that has succeeded is not counted any more. */
async function scrape(world: RealWorld, rows: readonly Row[], { seen, counters }: Counted): Promise<void> {
  const askedMs = Date.now();
  const text = await (await fetch(`${world.baseUrl()}/metrics`)).text();
  const atMs = Date.now();
  const samples = probeTotals(text).filter(({ labels }) => labels.namespace === namespace);
  for (const { name, probes } of rows)
    for (const probe of probes.filter(({ type }) => type !== 'startup')) {
      const { type } = probe;
      const series = samples.filter(({ labels }) => labels.pod === name && labels.probe_type?.toLowerCase() === type);
      const count = series.reduce((sum, { value }) => sum + value, 0);
      const before = counters.get(`${name} ${type}`);
      const grewMs = before === undefined || count > before.count ? atMs : before.grewMs;
      counters.set(`${name} ${type}`, { count, grewMs });
      if (askedMs - grewMs > uncountedSeconds(probe) * 1_000)
        seen.get(name)?.stalls.push({ probeType: type, fromMs: grewMs, toMs: askedMs });
    }
}
