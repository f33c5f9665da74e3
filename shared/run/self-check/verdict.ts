/**
 * Whether a report may count. Before a failure does, the prober examines itself; in doubt, after a stall and in the course of a run's end
 * every verdict is a prober error of class PROBER, and what the worker remembers stays as it is: all but a success that confirms what is
 * known, because the failures around it would add up without it.
 */
import type { ProbeReport } from '../../core/probe-report.ts';
import { mayTrust, needsSelfCheck, type Reach, voided } from '../../core/self-health.ts';
import type { Attempt } from '../../core/types.ts';
import type { Run } from '../run.ts';
import { type SelfCheck, selfCheckOf } from './self-check.ts';
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

export type SelfWatch = Pick<SelfCheck, 'health' | 'doubtedSince' | 'jumped' | 'stop'> & { watch(): Watched };

/** `inDoubt`: whoever held the shard before was, and said so. */
export function selfWatch(run: Run, inDoubt: boolean): SelfWatch {
  const { clock, cpuMs } = run.ports;
  const stalls = stallWatch(clock, cpuMs);
  const selfCheck = selfCheckOf(run, { stalls, inDoubt });
  return {
    health: selfCheck.health,
    doubtedSince: selfCheck.doubtedSince,
    jumped: selfCheck.jumped,
    stop: selfCheck.stop,
    watch() {
      const beganAtMs = clock.monotonicMs();
      return {
        done: stalls.watch(),
        async judge(report, { reach, changes, confirms }) {
          if (confirms && isSuccess(report) && !selfCheck.isStopped()) return report;
          const isNeeded = needsSelfCheck(report, changes);
          if (report.conclusion.kind === 'error' && !isNeeded) return report;
          if (isInternalStall(report, { stalls, beganAtMs, isNeeded })) return voided(report, 'the prober stood still');
          if (isNeeded && mayTrust(selfCheck.health())) await selfCheck.check(reach);
          const why = whyVoid(selfCheck, beganAtMs);
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
const isInternalStall = (report: ProbeReport, { stalls, beganAtMs, isNeeded }: Judged): boolean =>
  needsSelfCheck(report, true) && (isNeeded ? stalls.stalledSince(beganAtMs) : stalls.stoodStillSince(beganAtMs));

const isSuccess = ({ conclusion }: ProbeReport): boolean =>
  conclusion.kind === 'result' && conclusion.result === 'success';

function whyVoid(selfCheck: SelfCheck, beganAtMs: number): string | undefined {
  if (selfCheck.isStopped()) return 'the run has ended';
  if (!mayTrust(selfCheck.health())) return 'the prober doubts itself';
  // Its network came back while this probe was under way.
  return selfCheck.doubtedSince(beganAtMs) ? 'the prober doubted itself' : undefined;
}
