/** The CPU of an exchange by its size: it may grow linearly with the bytes, and no faster. */
import type { Bench } from './bench.ts';
import { bytesMaxOf, bytesMin, type Cut, type Kind } from './kind.ts';
import type { Probed } from './prober.ts';

export type Growth = {
  readonly nsPerByte: number;
  /** The largest mean factor of a doubling that could be measured; absent: none could. */
  readonly factor?: number;
  readonly heapMib: number;
  readonly rssMib: number;
  readonly outcomes: string;
  readonly fault?: string;
};

export type GrowthOptions = { readonly seed: number; readonly cut: Cut; readonly runs: number };

const doublings = 5;
/**
 * Doublings judged together. Costs have steps: the first read is cheap, and a complete answer is not read to its end. A
 * step can make one doubling expensive, never three in a row; quadratic cost makes each four times as expensive.
 */
const doublingsJudged = 3;
/** What a doubling may cost more than double: caches that are too small, garbage that outlives its generation. */
const factorMax = 2.6;
/** Less than this is lost in the noise of a shared machine. */
const measurableMs = 4;
/** So is less than this part of what the probes cost without the bytes. */
const measurablePart = 0.5;

/**
 * On a busy machine everything can cost twice as much for seconds, and the larger size looks expensive when such a time
 * began between the two. Before the kind fails, both are measured again in so many pairs, one size right after the
 * other; the median pair counts.
 */
const pairs = 5;

type Measured = { readonly bytes: number; readonly probed: Probed };
type Pair = readonly [before: Measured, next: Measured];

export async function measureGrowth(bench: Bench, kind: Kind, options: GrowthOptions): Promise<Growth> {
  const measure = async (bytes: number): Promise<Measured | string> => {
    const probed = await costOf(bench, kind, { ...options, bytes });
    return typeof probed === 'string' ? `${bytes} bytes: ${probed}` : { bytes, probed };
  };
  const fixed = await measure(bytesMin);
  if (typeof fixed === 'string') return failed(fixed);
  const msOf = ({ probed }: Measured) => Math.max(0, probed.cpuMs - fixed.probed.cpuMs);
  const leastMs = Math.max(measurableMs, measurablePart * fixed.probed.cpuMs);
  const factorOf = ([one, other]: Pair) => (msOf(other) / Math.max(leastMs, msOf(one))) ** (1 / doublingsJudged);
  const isTooDear = (pair: Pair) => factorOf(pair) > factorMax;
  const medianPair = async ([before, next]: Pair): Promise<Pair | string> => {
    const measured: Pair[] = [];
    while (measured.length < pairs) {
      const [one, other] = [await measure(before.bytes), await measure(next.bytes)];
      if (typeof one === 'string') return one;
      if (typeof other === 'string') return other;
      measured.push([one, other]);
    }
    return measured.sort((one, other) => factorOf(one) - factorOf(other))[(pairs - 1) / 2] as Pair;
  };
  const textOf = (of: Measured) => `${of.bytes} bytes: ${msOf(of).toFixed(1)} ms CPU`;
  const sizes: Measured[] = [];
  let factor: number | undefined;
  let fault: string | undefined;
  for (let step = doublings; step >= 0 && fault === undefined; step -= 1) {
    const next = await measure(Math.round(bytesMaxOf(kind) / 2 ** step));
    if (typeof next === 'string') return failed(next);
    sizes.push(next);
    fault = next.probed.wrong;
    const before = sizes.at(-1 - doublingsJudged);
    if (!before) continue;
    const pair = isTooDear([before, next]) ? await medianPair([before, next]) : ([before, next] as const);
    if (typeof pair === 'string') return failed(pair);
    if (msOf(pair[0]) >= leastMs) factor = Math.max(factor ?? 0, factorOf(pair));
    if (isTooDear(pair)) fault = pair.map(textOf).join(', ');
  }
  const last = sizes.at(-1) ?? fixed;
  const { bytes, probed } = last;
  return {
    nsPerByte: (msOf(last) * 1e6) / bytes,
    ...(factor !== undefined && { factor }),
    heapMib: probed.heapMib,
    rssMib: probed.rssMib,
    outcomes: Object.keys(probed.outcomes).join(', '),
    ...(fault !== undefined && { fault }),
  };
}

const failed = (fault: string): Growth => ({ nsPerByte: Number.NaN, heapMib: 0, rssMib: 0, outcomes: '', fault });

type CostOptions = GrowthOptions & { readonly bytes: number };

/** So many lookups leave each other a connection over TCP. */
const lanesMax = 4;
/** One exchange alone is lost in what compiling and collecting cost now and then. */
const runMs = 150;

/**
 * The CPU of one exchange for each request, in the cheapest of several runs: the rest is noise of other processes. The
 * first run is a warm-up.
 */
async function costOf(bench: Bench, kind: Kind, { bytes, seed, cut, runs }: CostOptions): Promise<Probed | string> {
  const opened = await bench.open([[kind, { kind: kind.name, bytes, cut, seed }]]);
  const requests = Array.from({ length: kind.probes ?? 1 }, () => opened).flat();
  let best: Probed | undefined;
  for (let run = 0; run <= runs; run += 1) {
    const ran = await bench.probe(requests, { lanes: Math.min(lanesMax, requests.length), lastMs: runMs });
    if (typeof ran === 'string') return ran;
    const probed = { ...ran, cpuMs: (ran.cpuMs * requests.length) / ran.probes };
    if (run > 0 && (best === undefined || probed.cpuMs < best.cpuMs)) best = probed;
  }
  await bench.close();
  return best ?? 'nothing was measured';
}
