/**
 * Whether the prober may trust what it sees. When its network, resolver, descriptors, event loop or clocks fail, every
 * target looks failed. So it checks itself before a failure counts, and while it is in doubt no verdict counts.
 */
import { isIpv4, isIpv6 } from '../go/ip-literal.ts';
import type { ProbeReport } from '../kubelet/probe-report.ts';
import type { Attempt, FailureClass } from '../spec/types.ts';

export type DoubtReason =
  | 'NetworkUnreachable'
  | 'ResolverUnavailable'
  | 'OutOfDescriptors'
  | 'EventLoopStalled'
  | 'ClockJumped'
  /** Another process reaches what fails here. */
  | 'SecondPlaceDisagrees';

export type SelfHealth =
  | { readonly kind: 'sound' }
  /**
   * One failed self-check: no verdict counts, and the next self-check decides. One lost packet does not justify an
   * event.
   */
  | (Fault & { readonly kind: 'suspect'; readonly sinceMs: number })
  /** Published as an event. `soundInARow`: self-checks passed since the last failed one. */
  | (Fault & { readonly kind: 'doubtful'; readonly sinceMs: number; readonly soundInARow: number });

/** `route`: the only one that is cut. Absent: every one is, or the fault is none of the network. */
export type Fault = { readonly reason: DoubtReason; readonly route?: Route };

/** The finding of one self-check; undefined: no fault. */
export type Finding = Fault | undefined;

/**
 * A shortage of descriptors makes probes late, and passes as probes in flight end and fewer begin. Meanwhile no verdict
 * counts that needs a self-check.
 */
const shortageMsMax = 30_000;
/** A network that recovers is unstable for a while. */
const soundInARowMin = 3;

/** The state after one more self-check. `nowMs`: wall time. */
export function afterSelfCheck(health: SelfHealth, finding: Finding, nowMs: number): SelfHealth {
  switch (health.kind) {
    case 'sound':
      return finding ? { kind: 'suspect', ...finding, sinceMs: nowMs } : health;
    case 'suspect':
      if (finding?.reason === 'OutOfDescriptors' && nowMs - health.sinceMs < shortageMsMax) return health;
      return finding ? { kind: 'doubtful', ...finding, sinceMs: health.sinceMs, soundInARow: 0 } : { kind: 'sound' };
    case 'doubtful': {
      if (finding) return { ...health, soundInARow: 0 };
      const soundInARow = health.soundInARow + 1;
      return soundInARow < soundInARowMin ? { ...health, soundInARow } : { kind: 'sound' };
    }
  }
}

/** Whether a verdict may count. */
export const mayTrust = (health: SelfHealth): boolean => health.kind === 'sound';

/** With more stalls than this in so short a time, their cause is still present. */
const stallsMax = 2;
const clockJumpMs = 2_000;

/** Wall time moved against monotonic time by more than a gradual correction would. */
export const isClockJump = (jumpMs: number): boolean => Math.abs(jumpMs) > clockJumpMs;

/** The ways out of this machine that differ in a VPC: to addresses of its own and of its peers, and to the internet. */
export type Route = 'private' | 'public';

/**
 * Where a probe goes, and so which canaries cover its path; a command on this machine uses no network. `network`: to a
 * name, which is not resolved.
 */
export type Reach = 'loopback' | Route | 'network' | 'none';

/** The answer of a canary. `problem`: undefined if it answered. */
export type CanaryAnswer = { readonly reach: Reach; readonly problem: DoubtReason | undefined };

export type Signs = {
  readonly canaries: readonly CanaryAnswer[];
  /** Reaches of the probes in question. */
  readonly reaches: ReadonlySet<Reach>;
  /** Number of stalls in the last seconds. */
  readonly stalls: number;
  /** How far wall time moved against monotonic time since the last self-check. */
  readonly jumpMs: number;
  /** Another process reaches what fails here. */
  readonly disagrees: boolean;
};

/** A reach without a canary counts as working. */
export function findingOf({ canaries, reaches, stalls, jumpMs, disagrees }: Signs): Finding {
  // First, because a stall makes canaries late too.
  if (stalls > stallsMax) return { reason: 'EventLoopStalled' };
  if (isClockJump(jumpMs)) return { reason: 'ClockJumped' };
  for (const reach of reaches) {
    const fault = faultOn(reach, canaries);
    if (fault) return fault;
  }
  return disagrees ? { reason: 'SecondPlaceDisagrees' } : undefined;
}

/**
 * A route is cut if none of its canaries answers, whatever those of the other one do. A name may take either. Canaries
 * that name no route, and all of them together, say what holds for both.
 */
function faultOn(reach: Reach, canaries: readonly CanaryAnswer[]): Finding {
  if (reach === 'none') return undefined;
  const isBeyond = reach !== 'loopback';
  const all = problemOf(canaries.filter((canary) => (canary.reach !== 'loopback') === isBeyond));
  if (all || !isBeyond) return all && { reason: all };
  for (const route of reach === 'network' ? routes : [reach]) {
    const problem = problemOf(canaries.filter((canary) => canary.reach === route));
    if (problem) return { reason: problem, route };
  }
  return undefined;
}

const routes: readonly Route[] = ['private', 'public'];

/** Of the first, if none answers. */
const problemOf = (asked: readonly CanaryAnswer[]): DoubtReason | undefined =>
  asked.every(({ problem }) => problem !== undefined) ? asked[0]?.problem : undefined;

/** A refusal or a reset counts as an answer: it came from the other end. */
export function canaryProblem(
  dialed: { readonly kind: 'connected' } | { readonly kind: 'failed'; failureClass: FailureClass; code?: string },
): DoubtReason | undefined {
  if (dialed.kind === 'connected') return undefined;
  switch (dialed.failureClass) {
    case 'CONNECT_REFUSED':
    case 'CONNECT_RESET':
      return undefined;
    case 'DNS':
      return 'ResolverUnavailable';
    case 'PROBER':
      return proberProblem(dialed.code);
    default:
      return 'NetworkUnreachable';
  }
}

const descriptorCodes: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAGAIN']);

/** Among the prober's internal errors only a resolver's has no system error code. */
function proberProblem(code: string | undefined): DoubtReason {
  if (code === undefined) return 'ResolverUnavailable';
  return descriptorCodes.has(code) ? 'OutOfDescriptors' : 'NetworkUnreachable';
}

/** Decided by the name as written; it is not resolved. */
export function reachOf(host: string): Exclude<Reach, 'none'> {
  if (/^(127\.\d+\.\d+\.\d+|::1|\[::1\]|(.+\.)?localhost\.?)$/i.test(host)) return 'loopback';
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  if (!isIpv4(address) && !isIpv6(address)) return 'network';
  return privateAddress.test(address) ? 'private' : 'public';
}

/** RFC 1918, the shared addresses of RFC 6598, and the unique local ones of RFC 4193. */
const privateAddress =
  /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd][\da-f]{2}:)/i;

/** Whether a late event loop, and not the target, may have used up the probe's time. */
export const isStall = (lagMs: number): boolean => lagMs >= stallMinMs;

const stallMinMs = 100;

/**
 * Whether the prober itself may be the cause. `changes`: the report would change the known state of the target, if it
 * counted.
 */
export function needsSelfCheck({ conclusion }: ProbeReport, changes: boolean): boolean {
  if (conclusion.kind === 'result') return conclusion.result === 'failure' && changes;
  return conclusion.failureClass === undefined || !notOfTheNetwork.has(conclusion.failureClass);
}

/**
 * Whether the peer's answer made this failure. However late the prober has read it, a late event loop cannot have made
 * it, unlike a time-out, or a connection that the peer has given up meanwhile. Exit codes are left out: a command
 * shares this machine, and may have timed out itself.
 */
export const isAnswer = ({ attempts }: ProbeReport): boolean => {
  const failureClass = attempts.at(-1)?.failureClass;
  return failureClass !== undefined && answers.has(failureClass);
};

const answers: ReadonlySet<FailureClass> = new Set(['CONNECT_REFUSED', 'HTTP_STATUS', 'GRPC_NOT_SERVING']);

const notOfTheNetwork: ReadonlySet<FailureClass> = new Set(['HANDLER', 'POLICY_DENIED', 'EXEC_START']);

/** The same attempts as a prober error, without an event and without effect on a counter. */
export function voided<Tried extends Attempt>(report: ProbeReport<Tried>, error: string): ProbeReport<Tried> {
  return { conclusion: { kind: 'error', error, failureClass: 'PROBER' }, attempts: report.attempts };
}

// The surge limit: how fast the targets of a shard may turn unhealthy. Many at once more likely have one cause,
// possibly a fault of the prober that no canary sees, and subscribers should not get all events in the same moment.
// docs/reliability.md derives the bound.

/** The window in which turns are counted together. */
export const surgeWindowMs = 60_000;
const turnsMin = 10;
const turnsPart = 0.3;

/** This long after a surge began all targets of the shard may have turned; until then they turn at an even pace. */
export const surgeRampMs = 20_000;
/** In a small shard at least this many targets may turn each second. */
const turnsPerSecondMin = 10;
/**
 * A probe with a longer period is never held back: its next probe would come too late, and with such a period targets
 * turn more slowly than the limit anyway.
 */
export const heldPeriodMsMax = 30_000;

/** More targets at once than chance explains. */
export const isSurge = (turning: number, targets: number): boolean => turning > Math.max(turnsMin, turnsPart * targets);

export type Turn = {
  /** Targets that turned, or would have, within the window, this one included. */
  readonly turning: number;
  /** Targets of the shard. */
  readonly targets: number;
  /** Time since the surge began. */
  readonly surgeMs: number;
  /** Targets that have turned since the surge began. */
  readonly turned: number;
  /** Period of the probe that failed. */
  readonly periodMs: number;
};

/** Whether this target may turn unhealthy now. If not, its next probe decides, and a success withdraws the failure. */
export const mayTurn = ({ turning, targets, surgeMs, turned, periodMs }: Turn): boolean =>
  !isSurge(turning, targets) || periodMs > heldPeriodMsMax || turned < turnsUntil(surgeMs, targets);

function turnsUntil(surgeMs: number, targets: number): number {
  if (surgeMs >= surgeRampMs) return Number.POSITIVE_INFINITY;
  return Math.max((turnsPerSecondMin * surgeMs) / 1_000, (targets * surgeMs) / surgeRampMs);
}
