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
import type { Canary, Run, RunLike } from '../run.ts';
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

export function selfCheckOf(run: RunLike, { stalls, inDoubt, disagrees, onRefused }: SelfCheckOptions): SelfCheck {
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
function opinionOf({ ports: { clock, log, canaries }, message }: RunLike, inDoubt: boolean) {
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
  { ports }: RunLike,
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
  /** What is asked over the network of the target; absent: a command. */
  readonly dialled?: Dialled | undefined;
};

export type SelfWatch = {
  /** A probe begins. */
  watch(): Watched;
  health(): SelfHealth;
  /** Whether the prober has been in doubt at any time since then (monotonic). */
  doubtedSince(sinceMs: number): boolean;
  /** Wall time moved this far against monotonic time. */
  jumped(jumpMs: number): void;
  /** Starts no more self-checks; resolves when none is under way. */
  stop(): Promise<void>;
  /** How many failures were void because of the prober; those that the end of the run made void are not counted. */
  voidFailures(): number;
};

/** `inDoubt`: RUN says that the previous holder doubted itself. `onRefused`: see `SelfCheckOptions`. */
export const selfWatch = (run: RunLike, inDoubt: boolean, onRefused: (code: string) => void): SelfWatch =>
  new ProberWatch(run, inDoubt, onRefused);

class ProberWatch implements SelfWatch {
  readonly #clock: Clock;
  readonly #stalls: StallWatch;
  readonly #selfCheck: SelfCheck;
  readonly #second: SecondPlace;
  #voidFailures = 0;

  constructor(run: RunLike, inDoubt: boolean, onRefused: (code: string) => void) {
    const { clock, cpuMs } = run.ports;
    this.#clock = clock;
    this.#stalls = stallWatch(clock, cpuMs);
    const disagrees = () => this.#second.disagrees();
    this.#selfCheck = selfCheckOf(run, { stalls: this.#stalls, inDoubt, disagrees, onRefused });
    this.#second = secondPlaceOf(run, () => this.#selfCheck.check());
  }

  watch(): Watched {
    const beganAtMs = this.#clock.monotonicMs();
    return { done: this.#stalls.watch(), judge: (report, about) => this.#judge(report, about, beganAtMs) };
  }

  health(): SelfHealth {
    return this.#selfCheck.health();
  }

  doubtedSince(sinceMs: number): boolean {
    return this.#selfCheck.doubtedSince(sinceMs);
  }

  jumped(jumpMs: number): void {
    this.#selfCheck.jumped(jumpMs);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#selfCheck.stop(), this.#second.stop()]).finally(this.#stalls.stop);
  }

  voidFailures(): number {
    return this.#voidFailures;
  }

  #judge<Tried extends Attempt>(report: ProbeReport<Tried>, about: About, beganAtMs: number): Judgment<Tried> {
    const selfCheck = this.#selfCheck;
    if (about.confirms && isSuccess(report) && !selfCheck.isStopped()) {
      this.#note(report, about);
      return report;
    }
    const isNeeded = needsSelfCheck(report, about.changes);
    if (report.conclusion.kind === 'error' && !isNeeded) return report;
    if (this.#isInternalStall(report, isNeeded, beganAtMs)) return this.#void(report, 'the prober stood still');
    this.#note(report, about);
    if (!isNeeded || !mayTrust(selfCheck.health())) return this.#unlessVoid(report, beganAtMs);
    const checked = selfCheck.check(about.reach);
    const counted = () => this.#unlessVoid(report, beganAtMs);
    return about.turns ? checked.then(() => this.#second.awaited()).then(counted) : checked.then(counted);
  }

  #unlessVoid<Tried extends Attempt>(report: ProbeReport<Tried>, beganAtMs: number): ProbeReport<Tried> {
    const why = whyVoid(this.#selfCheck, beganAtMs);
    return why === undefined ? report : this.#void(report, why);
  }

  #void<Tried extends Attempt>(report: ProbeReport<Tried>, why: string): ProbeReport<Tried> {
    if (isFailure(report) && !this.#selfCheck.isStopped()) this.#voidFailures += 1;
    return voided(report, why);
  }

  /** A failure that changes nothing is of a target that is known as failed. */
  #note(report: ProbeReport, { reach, changes, dialled }: About): void {
    if (dialled === undefined || reach === 'loopback') return;
    if (isSuccess(report)) this.#second.succeeded(dialled.spec.order.target);
    else if (changes && isFailure(report)) this.#second.failed(dialled);
  }

  /**
   * A failure that changes nothing would still make its result fresh, so a stall voids it too. But if the process was
   * busy and did not stand still, the failure is real, only seen late. So is one that the peer has answered: a prober
   * with more to do than time would otherwise never see a target go down.
   */
  #isInternalStall(report: ProbeReport, isNeeded: boolean, beganAtMs: number): boolean {
    if (!needsSelfCheck(report, true)) return false;
    const stalls = this.#stalls;
    return isNeeded && !isAnswer(report) ? stalls.stalledSince(beganAtMs) : stalls.stoodStillSince(beganAtMs);
  }
}

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
