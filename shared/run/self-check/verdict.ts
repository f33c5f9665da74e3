/**
 * Whether a report may count. Before a failure does, the prober examines itself; in doubt, after a stall and in the course of a run's end
 * every verdict is a prober error of class PROBER, and what the worker remembers stays as it is: all but a success that confirms what is
 * known, because the failures around it would add up without it.
 */
import type { ProbeReport } from '../../core/probe-report.ts';
import { mayTrust, needsExamination, type Reach, voided } from '../../core/self-health.ts';
import type { Attempt } from '../../core/types.ts';
import type { Run } from '../run.ts';
import { type Examiner, examinerOf } from './examine.ts';
import { type StallWatch, stallWatch } from './stall.ts';

/** A probe from its begin to its verdict. */
export type Watched = {
  /** What the report is worth. */
  judge<Tried extends Attempt>(report: ProbeReport<Tried>, about: About): Promise<ProbeReport<Tried>>;
  /** Idempotent. */
  done(): void;
};

export type About = {
  readonly reach: Reach;
  /** A failure would change what is known of the target. */
  readonly changes: boolean;
  /** A success would only end a run of failures: success is what is known. */
  readonly confirms: boolean;
};

export type SelfWatch = Pick<Examiner, 'health' | 'doubtedSince' | 'jumped' | 'stop'> & { watch(): Watched };

/** `inDoubt`: whoever held the shard before was, and said so. */
export function selfWatch(run: Run, inDoubt: boolean): SelfWatch {
  const { clock, cpuMs } = run.ports;
  const stalls = stallWatch(clock, cpuMs);
  const examiner = examinerOf(run, { stalls, inDoubt });
  return {
    health: examiner.health,
    doubtedSince: examiner.doubtedSince,
    jumped: examiner.jumped,
    stop: examiner.stop,
    watch() {
      const beganAtMs = clock.monotonicMs();
      return {
        done: stalls.watch(),
        async judge(report, { reach, changes, confirms }) {
          if (confirms && isSuccess(report) && !examiner.isStopped()) return report;
          const isNeeded = needsExamination(report, changes);
          if (report.conclusion.kind === 'error' && !isNeeded) return report;
          if (isOwnStall(report, { stalls, beganAtMs, isNeeded })) return voided(report, 'the prober stood still');
          if (isNeeded && mayTrust(examiner.health())) await examiner.examine(reach);
          const why = whyVoid(examiner, beganAtMs);
          return why === undefined ? report : voided(report, why);
        },
      };
    },
  };
}

type Judged = { readonly stalls: StallWatch; readonly beganAtMs: number; readonly isNeeded: boolean };

/**
 * A failure that changes nothing would be shown as seen just now, so a stall makes it void, too; but a process that was at work has seen a
 * target that is down, if late.
 */
const isOwnStall = (report: ProbeReport, { stalls, beganAtMs, isNeeded }: Judged): boolean =>
  needsExamination(report, true) && (isNeeded ? stalls.stalledSince(beganAtMs) : stalls.stoodStillSince(beganAtMs));

const isSuccess = ({ conclusion }: ProbeReport): boolean =>
  conclusion.kind === 'result' && conclusion.result === 'success';

function whyVoid(examiner: Examiner, beganAtMs: number): string | undefined {
  if (examiner.isStopped()) return 'the run has ended';
  if (!mayTrust(examiner.health())) return 'the prober doubts itself';
  // Its network came back while this probe was under way.
  return examiner.doubtedSince(beganAtMs) ? 'the prober doubted itself' : undefined;
}
