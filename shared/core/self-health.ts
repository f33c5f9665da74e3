/**
 * Whether the prober may believe what it sees. Its own network, resolver, descriptors, event loop and clocks can fail, and then every
 * target looks failed; so it examines itself before a failure counts, and while it is in doubt nothing counts at all.
 */
import type { ProbeReport } from './probe-report.ts';
import type { Attempt, FailureClass } from './types.ts';

export type DoubtReason =
  | 'NetworkUnreachable'
  | 'ResolverUnavailable'
  | 'OutOfDescriptors'
  | 'EventLoopStalled'
  | 'ClockJumped';

export type SelfHealth =
  | { readonly kind: 'sound' }
  /** One bad examination: nothing counts, and the next one decides. A lost packet is not worth an event. */
  | { readonly kind: 'suspect'; readonly reason: DoubtReason; readonly sinceMs: number }
  /** Told to everybody. `soundInARow`: examinations since the last bad one. */
  | {
      readonly kind: 'doubtful';
      readonly reason: DoubtReason;
      readonly sinceMs: number;
      readonly soundInARow: number;
    };

/** What one examination found; undefined: nothing wrong. */
export type Finding = DoubtReason | undefined;

/** A network that comes back comes and goes for a while. */
const soundInARowMin = 3;

/** The state after one more examination. `nowMs`: wall time. */
export function afterExamination(health: SelfHealth, finding: Finding, nowMs: number): SelfHealth {
  switch (health.kind) {
    case 'sound':
      return finding ? { kind: 'suspect', reason: finding, sinceMs: nowMs } : health;
    case 'suspect':
      return finding
        ? { kind: 'doubtful', reason: finding, sinceMs: health.sinceMs, soundInARow: 0 }
        : { kind: 'sound' };
    case 'doubtful': {
      if (finding) return { ...health, soundInARow: 0 };
      const soundInARow = health.soundInARow + 1;
      return soundInARow < soundInARowMin ? { ...health, soundInARow } : { kind: 'sound' };
    }
  }
}

/** May a verdict count? */
export const mayTrust = (health: SelfHealth): boolean => health.kind === 'sound';

/** Of several stalls in so short a time the cause is still there. */
const stallsMax = 2;
const clockJumpMs = 2_000;

/** Wall time that moved against monotonic time by more than anybody corrects it on the way. */
export const isClockJump = (jumpMs: number): boolean => Math.abs(jumpMs) > clockJumpMs;

/** Where a probe goes, and so which canaries can speak for its way; a command on this machine goes nowhere. */
export type Reach = 'loopback' | 'network' | 'none';

/** What a canary said: undefined when it answered. */
export type CanaryAnswer = { readonly reach: Reach; readonly trouble: DoubtReason | undefined };

export type Signs = {
  readonly canaries: readonly CanaryAnswer[];
  /** Of the probes in question. */
  readonly reaches: ReadonlySet<Reach>;
  /** In the last seconds. */
  readonly stalls: number;
  /** How far wall time moved against monotonic time since the last examination. */
  readonly jumpMs: number;
};

/** No canary of a reach, or one that answers: its network is taken as it looks. */
export function findingOf({ canaries, reaches, stalls, jumpMs }: Signs): Finding {
  // First, because a stall makes canaries late too.
  if (stalls > stallsMax) return 'EventLoopStalled';
  if (isClockJump(jumpMs)) return 'ClockJumped';
  for (const reach of reaches) {
    const asked = canaries.filter((canary) => canary.reach === reach);
    if (asked.length > 0 && asked.every(({ trouble }) => trouble !== undefined)) return asked[0]?.trouble;
  }
  return undefined;
}

/** A refusal or a reset is an answer as well: it came from the other end. */
export function canaryTrouble(
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
      return proberTrouble(dialed.code);
    default:
      return 'NetworkUnreachable';
  }
}

const descriptorCodes: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAGAIN']);

/** Of the prober's own troubles only a resolver's has no code of the system's. */
function proberTrouble(code: string | undefined): DoubtReason {
  if (code === undefined) return 'ResolverUnavailable';
  return descriptorCodes.has(code) ? 'OutOfDescriptors' : 'NetworkUnreachable';
}

/** By the name as it is written: what a name resolves to is not asked. */
export function reachOf(host: string): Reach {
  const isLoopback = /^(127\.\d+\.\d+\.\d+|::1|\[::1\]|(.+\.)?localhost\.?)$/i.test(host);
  return isLoopback ? 'loopback' : 'network';
}

/** Whether a late event loop, and not the target, may have used up a probe's time. */
export const isStall = (lagMs: number): boolean => lagMs >= stallMinMs;

const stallMinMs = 100;

/** What may be the prober's own doing; `changes`: it would change what is known of the target, if it counted. */
export function needsExamination({ conclusion }: ProbeReport, changes: boolean): boolean {
  if (conclusion.kind === 'result') return conclusion.result === 'failure' && changes;
  return conclusion.failureClass === undefined || !notOfTheNetwork.has(conclusion.failureClass);
}

const notOfTheNetwork: ReadonlySet<FailureClass> = new Set(['HANDLER', 'POLICY_DENIED', 'EXEC_START']);

/** The same attempts, and nothing that counts or is told of them. */
export function voided<Tried extends Attempt>(report: ProbeReport<Tried>, error: string): ProbeReport<Tried> {
  return { conclusion: { kind: 'error', error, failureClass: 'PROBER' }, attempts: report.attempts };
}
