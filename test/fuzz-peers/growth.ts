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

export async function measureGrowth(bench: Bench, kind: Kind, options: GrowthOptions): Promise<Growth> {
  const fixed = await costOf(bench, kind, { ...options, bytes: bytesMin });
  if (typeof fixed === 'string') return failed(`${bytesMin} bytes: ${fixed}`);
  const bytesMax = bytesMaxOf(kind);
  let last: { readonly bytes: number; readonly ms: number; readonly probed: Probed } | undefined;
  let factor: number | undefined;
  let fault: string | undefined;
  for (let step = doublings; step >= 0 && fault === undefined; step -= 1) {
    const bytes = Math.round(bytesMax / 2 ** step);
    const cost = await costOf(bench, kind, { ...options, bytes });
    if (typeof cost === 'string') return failed(`${bytes} bytes: ${cost}`);
    const ms = Math.max(0, cost.cpuMs - fixed.cpuMs);
    if (last && last.ms >= measurableMs) {
      const grown = ms / last.ms;
      factor = Math.max(factor ?? 0, grown);
      if (grown > factorMax)
        fault = `${last.bytes} bytes: ${last.ms.toFixed(1)} ms CPU, ${bytes} bytes: ${ms.toFixed(1)} ms`;
    }
    fault ??= cost.wrong;
    last = { bytes, ms, probed: cost };
  }
  const { bytes = 1, ms = 0, probed = fixed } = last ?? {};
  return {
    nsPerByte: (ms * 1e6) / bytes,
    ...(factor !== undefined && { factor }),
    heapMib: probed.heapMib,
    rssMib: probed.rssMib,
    outcomes: Object.keys(probed.outcomes).join(', '),
    ...(fault !== undefined && { fault }),
  };
}

const failed = (fault: string): Growth => ({ nsPerByte: Number.NaN, heapMib: 0, rssMib: 0, outcomes: '', fault });

type CostOptions = GrowthOptions & { readonly bytes: number };

/** The cheapest of several runs: what is more is somebody else's. The first one warms up. */
async function costOf(bench: Bench, kind: Kind, { bytes, seed, cut, runs }: CostOptions): Promise<Probed | string> {
  const requests = await bench.open([[kind, { kind: kind.name, bytes, cut, seed }]]);
  let best: Probed | undefined;
  for (let run = 0; run <= runs; run += 1) {
    const probed = await bench.probe(requests);
    if (typeof probed === 'string') return probed;
    if (run > 0 && (best === undefined || probed.cpuMs < best.cpuMs)) best = probed;
  }
  await bench.close();
  return best ?? 'nothing was measured';
}
