/** Leaves a probe alone that has hung the prober: it is not made, and its result is unknown. */
import { reportOf } from '../../core/kubelet/probe-report.ts';
import { type Committing, commitStep } from './commit.ts';
import type { Due, HeldTarget } from './held.ts';
import { quarantineOf } from './hung-probe.ts';
import { leftAlone } from './probe-verdict.ts';
import { type Planned, planProberError, type Report } from './step-plan.ts';

/** A probe that has hung the prober twice is not made. It counts as a prober error. */
export async function leaveAlone(holder: Committing, held: HeldTarget, { probe, place }: Due): Promise<void> {
  const { clock, metrics } = holder.run.ports;
  const { detail = '', hungAtMs = 0 } = quarantineOf(held, probe) ?? {};
  const nowMs = clock.nowMs();
  const isStanding = probe.verdict.erred;
  const report = quarantineReport(probe, detail, nowMs);
  leftAlone(probe.verdict, hungAtMs);
  metrics.observe(probe.labels, 'unknown', 0);
  const plan = planProberError(probe, { report, isStanding, nowMs });
  await commitStep(holder, held, { probe, place, plan });
}

/** The report of a probe in quarantine, which is not made. The error comes from no prober and needs no self-check. */
function quarantineReport({ probeType, spec }: Planned, error: string, timeMs: number): Report {
  const { kind, spec: container } = spec.container;
  const attempt = { outcome: 'unknown', output: '', error, failureClass: 'PROBER' } as const;
  const reported = { probeType, containerKind: kind, container: container.name };
  return reportOf([{ ...attempt, timeMs, timings: { totalMs: 0 } }], reported);
}
