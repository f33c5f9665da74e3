/** `/metrics` of one process: what its probers count, and what it holds. */
import type { ProbeMetrics } from '../../../shared/prober/metrics.ts';
import { type HeldMetricsPorts, heldFamilies } from './held-metrics.ts';
import { type LocalMetricsOptions, localMetrics } from './metrics.ts';
import { type ScrapePorts, scrapes } from './scrape.ts';

export type ProcessMetrics = {
  readonly probes: ProbeMetrics;
  /** Answers `GET /metrics`. */
  readonly answer: (request: Request) => Response;
};

/** `targetMetrics`: whether each target has series of its own. If not, targets and probes are counted; default true. */
type Options = Omit<LocalMetricsOptions & HeldMetricsPorts, 'perTarget'> &
  Pick<ScrapePorts, 'clock' | 'pause'> & { readonly targetMetrics?: boolean | undefined };

export function processMetrics({ targetMetrics: perTarget = true, clock, pause, ...options }: Options): ProcessMetrics {
  const { probes, families } = localMetrics({ ...options, perTarget });
  const all = async () => {
    const held = await heldFamilies({ ...options, perTarget, pause });
    return [...families(), ...held];
  };
  return { probes, answer: scrapes({ clock, families: all, pause }) };
}
