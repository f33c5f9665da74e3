/** What one exchange of a kind costs by its size: the CPU of the prober may at most double when the bytes double. */
import type { Bench } from './bench.ts';
import { bytesMaxOf, bytesMin, type Cut, type Kind } from './kind.ts';
import type { Probed } from './prober.ts';

export type Growth = {
  readonly nsPerByte: number;
  /** The largest factor of a doubling that could be measured; absent: none could. */
  readonly factor?: number;
  readonly heapMib: number;
  readonly rssMib: number;
  readonly outcomes: string;
  readonly fault?: string;
};

export type GrowthOptions = { readonly seed: number; readonly cut: Cut; readonly runs: number };

const doublings = 5;
/** What a doubling may cost more than double: caches that are too small, garbage that outlives its generation. */
const factorMax = 2.6;
/** Less than this is lost in the noise of a shared machine. */
const measurableMs = 4;
/** So is less than this part of what the probes cost without the bytes. */
const measurablePart = 0.5;

/** A machine that is busy with something else makes either size look dearer: both are measured again before the kind is blamed. */
const roundsMax = 4;

type Measured = { readonly bytes: number; readonly probed: Probed };

export async function measureGrowth(bench: Bench, kind: Kind, options: GrowthOptions): Promise<Growth> {
  const measure = async (bytes: number): Promise<Measured | string> => {
    const probed = await costOf(bench, kind, { ...options, bytes });
    return typeof probed === 'string' ? `${bytes} bytes: ${probed}` : { bytes, probed };
  };
  const fixed = await measure(bytesMin);
  if (typeof fixed === 'string') return failed(fixed);
  const msOf = ({ probed }: Measured) => Math.max(0, probed.cpuMs - fixed.probed.cpuMs);
  const leastMs = Math.max(measurableMs, measurablePart * fixed.probed.cpuMs);
  const isTooDear = (one: Measured, other: Measured) => msOf(one) >= leastMs && msOf(other) > factorMax * msOf(one);
  const textOf = (of: Measured) => `${of.bytes} bytes: ${msOf(of).toFixed(1)} ms CPU`;
  let last: Measured | undefined;
  let factor: number | undefined;
  let fault: string | undefined;
  for (let step = doublings; step >= 0 && fault === undefined; step -= 1) {
    let next = await measure(Math.round(bytesMaxOf(kind) / 2 ** step));
    if (typeof next === 'string') return failed(next);
    for (let round = 0; last && round < roundsMax && isTooDear(last, next); round += 1) {
      last = cheaper(last, await measure(last.bytes));
      next = cheaper(next, await measure(next.bytes));
    }
    if (last && msOf(last) >= leastMs) factor = Math.max(factor ?? 0, msOf(next) / msOf(last));
    if (last && isTooDear(last, next)) fault = [last, next].map(textOf).join(', ');
    fault ??= next.probed.wrong;
    last = next;
  }
  const { bytes, probed } = last ?? fixed;
  return {
    nsPerByte: (msOf(last ?? fixed) * 1e6) / bytes,
    ...(factor !== undefined && { factor }),
    heapMib: probed.heapMib,
    rssMib: probed.rssMib,
    outcomes: Object.keys(probed.outcomes).join(', '),
    ...(fault !== undefined && { fault }),
  };
}

/** Of two measurements of one size; one that failed says nothing. */
const cheaper = (one: Measured, other: Measured | string): Measured =>
  typeof other === 'string' || other.probed.cpuMs >= one.probed.cpuMs ? one : other;

const failed = (fault: string): Growth => ({ nsPerByte: Number.NaN, heapMib: 0, rssMib: 0, outcomes: '', fault });

type CostOptions = GrowthOptions & { readonly bytes: number };

/** So many lookups leave each other a connection over TCP. */
const lanesMax = 4;
/** One exchange alone is lost in what compiling and collecting cost now and then. */
const runMs = 150;

/** One exchange, or one each, in the cheapest of several runs: what is more is somebody else's. The first one warms up. */
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
