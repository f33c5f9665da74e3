/** The metrics port of the prober: kubelet's two families. Source: pkg/kubelet/prober/prober_manager.go. */
import type { ProbeType } from '../core/types.ts';

/** Which worker's series; what names a worker is the uid, the container and the probe type. */
export type ProbeMetricLabels = {
  readonly probeType: ProbeType;
  readonly container: string;
  readonly pod: string;
  readonly namespace: string;
  readonly podUid: string;
};

export type ProbeMetricResult = 'successful' | 'failed' | 'unknown';

export interface ProbeMetrics {
  /** Counts one probe with its verdict; the duration is observed for successful and unknown ones only, as kubelet does. */
  observe(labels: ProbeMetricLabels, result: ProbeMetricResult, durationSeconds: number): void;
  /** The worker has ended: its series go. Idempotent. */
  remove(labels: ProbeMetricLabels): void;
}

/** The value of the label `probe_type`, as kubelet's probeType.String() writes it. */
export const probeTypeLabel = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const;
