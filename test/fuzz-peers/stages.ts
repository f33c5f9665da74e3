/** The stages that need nothing but probers: growth and bursts of each kind, and a volley of all kinds at once. */
import type { Random } from '../../shared/lib/random.ts';
import { atLeast, atMost, type Figure, judged, quantileOf, unjudged } from '../support/figures.ts';
import { type Bench, startBench } from './bench.ts';
import { measureGrowth } from './growth.ts';
import { bytesMaxOf, bytesMin, cuts, type Exchange, type Kind, oneOf, shuffled } from './kind.ts';
import type { Lateness } from './neighbours.ts';

export type StageOptions = {
  readonly kinds: readonly Kind[];
  readonly seeds: readonly number[];
  readonly isSlice: boolean;
  readonly random: Random;
  readonly say: (line: string) => void;
};

const latenessMsMax = 250;
const late = { limit: latenessMsMax, unit: 'ms' };

/** How late the neighbours were, and how much of that was the prober's own doing. */
function lateText(latenesses: readonly Lateness[]) {
  const sorted = (of: keyof Lateness) => latenesses.map((each) => each[of]).sort((a, b) => a - b);
  const [all, own] = [sorted('ms'), sorted('ownMs')];
  const p99Ms = quantileOf(all, 0.99);
  const ownMs = quantileOf(own, 0.99);
  const text = `neighbours late by ${p99Ms.toFixed(0)} ms (p99), by own CPU ${ownMs.toFixed(0)} ms`;
  return { text, p99Ms, ownMs };
}

/** Runs of one size; the cheapest counts. */
const runs = { full: 3, slice: 2 };
/** A slice takes so many of the kinds, by chance. */
const sliceKinds = 12;
const burst = { lanes: 20, lastMs: 2_000 };

/**
 * Each kind with each seed: CPU by bytes without neighbours. With the last seed also twenty peers of the largest size
 * at a time beside fifty neighbours.
 */
export async function growthStage({ kinds, seeds, isSlice, random, say }: StageOptions): Promise<readonly Figure[]> {
  const [alone, beside] = [await startBench({ neighbours: false }), await startBench({ neighbours: true })];
  const figures: Figure[] = [];
  try {
    for (const kind of isSlice ? shuffled(kinds, random).slice(0, sliceKinds) : kinds) {
      const ofKind = await kindFigures(kind, { alone, beside, seeds: isSlice ? seeds.slice(-1) : seeds, isSlice });
      figures.push(...ofKind);
      for (const { name, measured, holds } of ofKind) say(`${holds === false ? 'FAIL' : 'ok  '} ${name}: ${measured}`);
    }
  } finally {
    alone.end();
    beside.end();
  }
  return figures;
}

type KindOptions = Pick<StageOptions, 'seeds' | 'isSlice'> & { readonly alone: Bench; readonly beside: Bench };

async function kindFigures(kind: Kind, { alone, beside, seeds, isSlice }: KindOptions): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [at, seed] of seeds.entries()) {
    const name = `${kind.name}, seed ${seed}`;
    const cut = cuts[at % 2] ?? 'whole';
    const growth = await measureGrowth(alone, kind, { seed, cut, runs: isSlice ? runs.slice : runs.full });
    const { nsPerByte, factor, heapMib, rssMib, outcomes, fault } = growth;
    const doubling = factor === undefined ? 'too cheap to see it double' : `at most × ${factor.toFixed(2)} on doubling`;
    const measured = `${nsPerByte.toFixed(1)} ns a byte, ${doubling}, heap ${heapMib.toFixed(0)} MiB, RSS ${rssMib.toFixed(0)} MiB (${outcomes})`;
    figures.push(
      judged(`${name}, ${cut}`, fault === undefined ? measured : `${fault}; ${measured}`, {
        limit: 'linear',
        holds: fault === undefined,
      }),
    );
    if (at === seeds.length - 1) figures.push(await burstFigure(beside, kind, seed));
  }
  return figures;
}

async function burstFigure(bench: Bench, kind: Kind, seed: number): Promise<Figure> {
  const requests = await bench.open([[kind, { kind: kind.name, bytes: bytesMaxOf(kind), cut: 'whole', seed }]]);
  const probed = await bench.probe(requests, burst);
  await bench.close();
  const name = `${kind.name}, seed ${seed}, ${burst.lanes} at a time`;
  if (typeof probed === 'string') return judged(name, probed, { limit: '≤ 250 ms late', holds: false });
  const { latenesses, probes, wallMs, wrong, rssMib } = probed;
  const { text, p99Ms } = lateText(latenesses);
  const measured = `${text}, RSS ${rssMib.toFixed(0)} MiB, ${probes} exchanges in ${(wallMs / 1000).toFixed(1)} s`;
  return judged(name, wrong === undefined ? measured : `${wrong}; ${measured}`, {
    limit: `≤ ${latenessMsMax} ms`,
    holds: p99Ms <= latenessMsMax && wrong === undefined,
  });
}

const volley = { full: 5_000, slice: 600 };
/** Listeners that are open at once. */
const batch = 100;
const volleyLanes = 16;

/** Exchanges of random kind, size and cut, beside the neighbours. Half of the sizes are below 100 KiB. */
export async function volleyStage({ kinds, isSlice, random, say }: StageOptions): Promise<readonly Figure[]> {
  const count = isSlice ? volley.slice : volley.full;
  const bench = await startBench({ neighbours: true });
  const latenesses: Lateness[] = [];
  const faults: string[] = [];
  let [probes, rssMib, heapMib, bytes] = [0, 0, 0, 0];
  try {
    while (probes < count && faults.length < faultsMax) {
      const exchanges = Array.from({ length: batch }, () => randomExchange(kinds, random));
      const probed = await bench.probe(await bench.open(exchanges), { lanes: volleyLanes, withinMs: 120_000 });
      await bench.close();
      bytes += exchanges.reduce((sum, [, exchange]) => sum + exchange.bytes, 0);
      if (typeof probed === 'string' || probed.wrong !== undefined) {
        const why = typeof probed === 'string' ? probed : (probed.wrong ?? '');
        faults.push(why);
        say(`FAIL volley: ${why}, among ${[...new Set(exchanges.map(([kind]) => kind.name))].join('; ')}`);
      }
      if (typeof probed === 'string') continue;
      probes += probed.probes;
      rssMib = Math.max(rssMib, probed.rssMib);
      heapMib = Math.max(heapMib, probed.heapMib);
      latenesses.push(...probed.latenesses);
    }
  } finally {
    bench.end();
  }
  const { text, p99Ms } = lateText(latenesses);
  return [
    atLeast('volley: exchanges', probes, { limit: count }),
    unjudged('volley: bytes', `${(bytes / 2 ** 20).toFixed(0)} MiB`),
    atMost('volley: neighbours late, p99', p99Ms, late),
    unjudged(`volley: of ${latenesses.length} probes`, text),
    unjudged('volley: RSS, heap', `${rssMib.toFixed(0)} MiB, ${heapMib.toFixed(0)} MiB`),
    atMost('volley: probes that hung or threw', faults.length, { limit: 0 }),
  ];
}

const faultsMax = 3;

function randomExchange(kinds: readonly Kind[], random: Random): readonly [Kind, Exchange] {
  const kind = kinds[Math.floor(random.next() * kinds.length)] ?? (kinds[0] as Kind);
  const bytes = Math.round(bytesMin * (bytesMaxOf(kind) / bytesMin) ** random.next());
  return [kind, { kind: kind.name, bytes, cut: oneOf(random, cuts), seed: Math.floor(random.next() * 2 ** 31) }];
}
