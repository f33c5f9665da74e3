/**
 * How the prober examines itself: it dials its canaries and asks its event loop and its clocks. Nobody asks: nothing is done. In doubt it
 * looks again each second, until several examinations in a row found nothing.
 */
import {
  afterSelfCheck,
  type CanaryAnswer,
  canaryProblem,
  type Finding,
  findingOf,
  mayTrust,
  type Reach,
  reachOf,
  type SelfHealth,
} from '../../core/self-health.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import type { Canary } from '../ports.ts';
import type { Run } from '../run.ts';
import type { StallWatch } from './stall.ts';

/** Less than the second after which a lost SYN is sent again, so that a canary speaks for the time when it was asked. */
const canaryTimeoutMs = 900;
/** While many targets fail one examination serves all that failed before it. */
const checkIntervalMs = 100;
/** How often a prober in doubt looks again. */
const doubtIntervalMs = 1_000;

export type SelfCheck = {
  /** Resolves after an examination that began from now on; all who ask until it begins share it. */
  check(reach?: Reach): Promise<void>;
  health(): SelfHealth;
  /** Has there been any doubt since then (monotonic)? */
  doubtedSince(sinceMs: number): boolean;
  /** Wall time moved by so much against monotonic time. */
  jumped(jumpMs: number): void;
  /** Examines no more; resolves when nothing is under way. */
  stop(): Promise<void>;
  isStopped(): boolean;
};

type Options = {
  readonly stalls: StallWatch;
  /** Whoever held the shard before doubted itself, and said so. */
  readonly inDoubt: boolean;
};

export function selfCheckOf(run: Run, { stalls, inDoubt }: Options): SelfCheck {
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
    const answers = await Promise.all(canaries.map((canary) => askCanary(run, canary)));
    // What a dialer says that was abandoned is no sign of anything.
    if (over.signal.aborted) return;
    opinion.take(findingOf({ canaries: answers, reaches, stalls: stalls.recent(), jumpMs }), reaches);
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

/** What the prober holds of itself. */
function opinionOf({ ports: { clock, log, canaries }, message }: Run, inDoubt: boolean) {
  let health: SelfHealth = inDoubt ? inherited(clock.nowMs()) : { kind: 'sound' };
  let doubtedAtMs = Number.NEGATIVE_INFINITY;
  /** Ways out that the doubt is about. */
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

/** One examination at a time. All who ask until it begins share it; it is given the ways out that they ask about. */
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

async function askCanary({ ports }: Run, { host, port }: Canary): Promise<CanaryAnswer> {
  const deadlineMs = ports.clock.monotonicMs() + canaryTimeoutMs;
  const dialed = await ports.dial({ host, port, deadlineMs, own: true });
  if (dialed.kind === 'connected') dialed.socket.destroy();
  return { reach: reachOf(host), problem: canaryProblem(dialed) };
}
