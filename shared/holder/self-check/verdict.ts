/**
 * Decides whether a report may count. The prober runs a self-check before a failure counts. In doubt, after a stall and
 * while a run ends, every verdict is a prober error of class PROBER, and the state of the worker does not change. The
 * exception is a success that confirms the known result: without it, the failures before and after it would add up.
 */
import type { ProbeReport } from '../../core/kubelet/probe-report.ts';
import type { Attempt } from '../../core/kubelet/types.ts';
import { isAnswer, mayTrust, needsSelfCheck, type Reach, voided } from '../../core/self/health.ts';
import type { ProbeOrder } from '../../prober/probe.ts';
import { type SecondPlace, secondPlaceOf } from './second-place.ts';
import { type SelfCheck, type SelfCheckOptions, selfCheckOf, type Watching } from './self-check.ts';
import { type StallWatch, stallWatch } from './stall.ts';

/** A probe from its beginning to its verdict. */
export type Watched = {
  /** Returns the report, or a prober error in its place; at once, unless that takes a self-check. */
  judge<Tried extends Attempt>(report: ProbeReport<Tried>, about: About): Judgment<Tried>;
  /** Idempotent. */
  done(): void;
};

export type Judgment<Tried extends Attempt> = ProbeReport<Tried> | Promise<ProbeReport<Tried>>;

export type About = {
  readonly reach: Reach;
  /** A failure would change the known result of the target. */
  readonly changes: boolean;
  /** The known result is success, so a success would only end a run of failures. */
  readonly confirms: boolean;
  /** A failure would turn the target unhealthy now. */
  readonly turns: boolean;
  /** What is asked over the network of the target; absent: a command. */
  readonly dialled?: ProbeOrder | undefined;
};

export type SelfWatch = Pick<SelfCheck, 'health' | 'doubtedSince' | 'jumped' | 'stop'> & {
  watch(): Watched;
  /** How many failures were void because of the prober; those that the end of the run made void are not counted. */
  voidFailures(): number;
};

export function selfWatch(run: Watching, options: Pick<SelfCheckOptions, 'inDoubt' | 'onRefused'>): SelfWatch {
  const { clock, cpuMs } = run.ports;
  const stalls = stallWatch(clock, cpuMs);
  const selfCheck = selfCheckOf(run, { stalls, ...options, disagrees: () => second.disagrees() });
  const second = secondPlaceOf(run, { onDisagreed: () => selfCheck.check() });
  let voidFailures = 0;
  const voidReport = <Tried extends Attempt>(report: ProbeReport<Tried>, why: string): ProbeReport<Tried> => {
    if (isFailure(report) && !selfCheck.isStopped()) voidFailures += 1;
    return voided(report, why);
  };
  return {
    voidFailures: () => voidFailures,
    health: selfCheck.health,
    doubtedSince: selfCheck.doubtedSince,
    jumped: selfCheck.jumped,
    async stop() {
      await Promise.all([selfCheck.stop(), second.stop()]).finally(stalls.stop);
    },
    watch() {
      const beganAtMs = clock.monotonicMs();
      return {
        done: stalls.watch(),
        judge(report, about) {
          const { reach, changes, confirms } = about;
          if (confirms && isSuccess(report) && !selfCheck.isStopped()) {
            note(second, report, about);
            return report;
          }
          const isNeeded = needsSelfCheck(report, changes);
          if (report.conclusion.kind === 'error' && !isNeeded) return report;
          if (isInternalStall(report, { stalls, beganAtMs, isNeeded }))
            return voidReport(report, 'the prober stood still');
          note(second, report, about);
          const counted = () => {
            const why = whyVoid(selfCheck, beganAtMs);
            return why === undefined ? report : voidReport(report, why);
          };
          if (!isNeeded || !mayTrust(selfCheck.health())) return counted();
          const checked = selfCheck.check(reach);
          return about.turns ? checked.then(() => second.awaited()).then(counted) : checked.then(counted);
        },
      };
    },
  };
}

/** A failure that changes nothing is of a target that is known as failed. */
function note(second: SecondPlace, report: ProbeReport, { reach, changes, dialled }: About): void {
  if (dialled === undefined || reach === 'loopback') return;
  if (isSuccess(report)) second.succeeded(dialled.target);
  else if (changes && isFailure(report)) second.failed(dialled);
}

type Judged = { readonly stalls: StallWatch; readonly beganAtMs: number; readonly isNeeded: boolean };

/**
 * A failure that changes nothing would still make its result fresh, so a stall voids it too. But if the process was
 * busy and did not stand still, the failure is real, only seen late. So is one that the peer has answered: a prober
 * with more to do than it can would otherwise never see a target go down.
 */
const isInternalStall = (report: ProbeReport, { stalls, beganAtMs, isNeeded }: Judged): boolean =>
  needsSelfCheck(report, true) &&
  (isNeeded && !isAnswer(report) ? stalls.stalledSince(beganAtMs) : stalls.stoodStillSince(beganAtMs));

const isSuccess = ({ conclusion }: ProbeReport): boolean =>
  conclusion.kind === 'result' && conclusion.result === 'success';

const isFailure = ({ conclusion }: ProbeReport): boolean =>
  conclusion.kind === 'result' && conclusion.result === 'failure';

function whyVoid(selfCheck: SelfCheck, beganAtMs: number): string | undefined {
  if (selfCheck.isStopped()) return 'the run has ended';
  if (!mayTrust(selfCheck.health())) return 'the prober doubts itself';
  // The network recovered while this probe was under way.
  return selfCheck.doubtedSince(beganAtMs) ? 'the prober doubted itself' : undefined;
}
