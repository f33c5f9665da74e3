/** The metrics port of the prober: kubelet's two families. Source: pkg/kubelet/prober/prober_manager.go. */
import type { ProbeType } from '../core/spec/types.ts';

/** Identifies a worker's series: a worker is named by the uid, the container and the probe type. */
export type ProbeMetricLabels = {
  readonly probeType: ProbeType;
  readonly container: string;
  readonly pod: string;
  readonly namespace: string;
  readonly podUid: string;
};

export type ProbeMetricResult = 'successful' | 'failed' | 'unknown';

export interface ProbeMetrics {
  /**
   * Counts one probe with its verdict. The duration is observed only for successful and unknown ones, as in kubelet.
   */
  observe(labels: ProbeMetricLabels, result: ProbeMetricResult, durationSeconds: number): void;
  /** The worker has ended: removes its series. Idempotent. */
  remove(labels: ProbeMetricLabels): void;
}

/** The value of the label `probe_type`, as kubelet's probeType.String() writes it. */
export const probeTypeLabel = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const;
