/**
 * The self-check: the prober dials its canaries and looks at its event loop and its clocks. Runs only on demand. In
 * doubt it repeats each second, until several self-checks in a row have passed.
 */

import type { ProbeReport } from '../../core/kubelet/probe-report.ts';
import {
  afterSelfCheck,
  type CanaryAnswer,
  canaryProblem,
  type Finding,
  findingOf,
  isAnswer,
  mayTrust,
  needsSelfCheck,
  type Reach,
  reachOf,
  type SelfHealth,
  voided,
} from '../../core/self/health.ts';
import type { Attempt } from '../../core/spec/types.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import type { Canary, Run } from '../run.ts';
import { type Dialled, type SecondPlace, secondPlaceOf } from './second-place.ts';
import { type StallWatch, stallWatch } from './stall.ts';

/**
 * Less than the second after which a lost SYN is sent again, so that the answer reflects the network at the time of the
 * dial.
 */
const canaryTimeoutMs = 900;
/** Minimum time between two self-checks: while many targets fail, one self-check serves all failures before it. */
const checkIntervalMs = 100;
/** How often a prober in doubt repeats the self-check. */
const doubtIntervalMs = 1_000;

/** Of a run, or of what watches itself without one. */
export type Watching = Pick<Run, 'ports' | 'token' | 'signal'> & { readonly message: Pick<Run['message'], 'shard'> };

export type SelfCheck = {
  /** Resolves after a self-check that begins after this call. All calls before its beginning share it. */
  check(reach?: Reach): Promise<void>;
  health(): SelfHealth;
  /** Whether the prober has been in doubt at any time since then (monotonic). */
  doubtedSince(sinceMs: number): boolean;
  /** Wall time moved this far against monotonic time. */
  jumped(jumpMs: number): void;
  /** Starts no more self-checks; resolves when none is under way. */
  stop(): Promise<void>;
  isStopped(): boolean;
};

export type SelfCheckOptions = {
  readonly stalls: StallWatch;
  /** RUN says that the previous holder doubted itself. */
  readonly inDoubt: boolean;
  /** Another process reaches what fails here. */
  readonly disagrees: () => boolean;
  /** Called with the system error code of each canary that could not be dialed. */
  readonly onRefused: (code: string) => void;
};

export function selfCheckOf(run: Watching, { stalls, inDoubt, disagrees, onRefused }: SelfCheckOptions): SelfCheck {
  const { clock, canaries } = run.ports;
  const over = new AbortController();
  const stop = () => over.abort();
  const opinion = opinionOf(run, inDoubt);
  let jumpedMs = 0;
  let doubting: Promise<void> | undefined;

  const { check, last } = sharedCheck(clock, over.signal, async (asked) => {
    const reaches = new Set([...asked, ...opinion.doubted]);
    const jumpMs = jumpedMs;
    jumpedMs = 0;
    const answers = await Promise.all(canaries.map((canary) => askCanary(run, canary, onRefused)));
    // The answer of an abandoned dialer means nothing.
    if (over.signal.aborted) return;
    opinion.take(
      findingOf({ canaries: answers, reaches, stalls: stalls.recent(), jumpMs, disagrees: disagrees() }),
      reaches,
    );
    if (!mayTrust(opinion.health())) doubting ??= doubt();
  });

  async function doubt(): Promise<void> {
    const unwatch = stalls.watch();
    while (!mayTrust(opinion.health()) && !over.signal.aborted) {
      await sleep(clock, doubtIntervalMs, over.signal);
      await check();
    }
    unwatch();
    doubting = undefined;
  }

  run.signal.addEventListener('abort', stop);
  if (inDoubt) doubting = doubt();
  return {
    check,
    health: opinion.health,
    doubtedSince: opinion.doubtedSince,
    jumped(jumpMs) {
      jumpedMs += jumpMs;
      void check();
    },
    async stop() {
      stop();
      run.signal.removeEventListener('abort', stop);
      await doubting;
      await last();
    },
    isStopped: () => over.signal.aborted,
  };
}

/** The prober's judgment of its own health. */
function opinionOf({ ports: { clock, log, canaries }, message }: Watching, inDoubt: boolean) {
  let health: SelfHealth = inDoubt ? inherited(clock.nowMs()) : { kind: 'sound' };
  let doubtedAtMs = Number.NEGATIVE_INFINITY;
  /** The reaches that are in doubt. */
  const doubted = new Set<Reach>(inDoubt ? canaries.map(({ host }) => reachOf(host)) : []);
  return {
    doubted: doubted as ReadonlySet<Reach>,
    health: () => health,
    doubtedSince: (sinceMs: number) => doubtedAtMs > sinceMs,
    take(finding: Finding, reaches: ReadonlySet<Reach>): void {
      const before = health;
      health = afterSelfCheck(before, finding, clock.nowMs());
      doubted.clear();
      if (!mayTrust(health)) for (const reach of reaches) doubted.add(reach);
      if (!mayTrust(health) || !mayTrust(before)) doubtedAtMs = clock.monotonicMs();
      if (before.kind !== health.kind) log.warn('self-health changed', { shard: message.shard, health });
    },
  };
}

/**
 * Runs one self-check at a time. All calls before its beginning share it, and it covers the reaches that they ask
 * about.
 */
function sharedCheck(clock: Clock, over: AbortSignal, checkOnce: (asked: readonly Reach[]) => Promise<void>) {
  const asked = new Set<Reach>();
  let beganAtMs = Number.NEGATIVE_INFINITY;
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const begin = async () => {
    const pauseMs = beganAtMs + checkIntervalMs - clock.monotonicMs();
    if (pauseMs > 0) await sleep(clock, pauseMs, over);
    next = undefined;
    if (over.aborted) return;
    beganAtMs = clock.monotonicMs();
    const reaches = [...asked];
    asked.clear();
    await checkOnce(reaches);
  };
  return {
    last: () => last,
    check(reach?: Reach): Promise<void> {
      if (reach) asked.add(reach);
      if (!next) {
        next = last.then(begin);
        last = next;
      }
      return next;
    },
  };
}

const inherited = (nowMs: number): SelfHealth => ({
  kind: 'doubtful',
  reason: 'NetworkUnreachable',
  sinceMs: nowMs,
  soundInARow: 0,
});

async function askCanary(
  { ports }: Watching,
  canary: Canary,
  onRefused: SelfCheckOptions['onRefused'],
): Promise<CanaryAnswer> {
  const { host, port } = canary;
  const deadlineMs = ports.clock.monotonicMs() + canaryTimeoutMs;
  const reach = await reachOfCanary(ports, canary, deadlineMs);
  const dialed = await ports.dial({ host, port, deadlineMs, bypassesPolicy: true });
  if (dialed.kind === 'connected') dialed.socket.destroy();
  else if (dialed.code !== undefined) onRefused(dialed.code);
  return { reach, problem: canaryProblem(dialed) };
}

/** Of a name that cannot be resolved, none. */
async function reachOfCanary({ resolve }: Run['ports'], { host, ofAnyRoute }: Canary, deadlineMs: number) {
  const reach = reachOf(host);
  if (reach === 'loopback') return reach;
  if (ofAnyRoute) return 'network';
  if (reach !== 'network') return reach;
  const resolution = await resolve(host, deadlineMs);
  return resolution.kind === 'resolved' ? reachOf(resolution.addresses[0] ?? host) : reach;
}

// Decides whether a report may count. The prober runs a self-check before a failure counts. In doubt, after a stall and
// while a run ends, every verdict is a prober error of class PROBER, and the state of the worker does not change. The
// exception is a success that confirms the known result: without it, the failures before and after it would add up.

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
  /** What is asked over the network of the target; absent: a command, or there is no other place. */
  readonly dialled?: Dialled | undefined;
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
