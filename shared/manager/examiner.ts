/**
 * How the prober examines itself: it dials its canaries and asks its event loop and its clocks. Nobody asks: nothing is done. In doubt it
 * looks again each second, until several examinations in a row found nothing.
 */
import {
  afterExamination,
  type CanaryAnswer,
  canaryTrouble,
  type Finding,
  findingOf,
  mayTrust,
  type Reach,
  reachOf,
  type SelfHealth,
} from '../core/self-health.ts';
import { sleep } from '../lib/clock.ts';
import type { Canary } from './ports.ts';
import type { Run } from './run.ts';
import type { StallWatch } from './stall.ts';

/** Less than the second after which a lost SYN is sent again, so that a canary speaks for the time when it was asked. */
const canaryTimeoutMs = 900;
/** While many targets fail one examination serves all that failed before it. */
const examinationIntervalMs = 100;
/** How often a prober in doubt looks again. */
const doubtIntervalMs = 1_000;

export type Examiner = {
  /** Resolves after an examination that began from now on; all who ask until it begins share it. */
  examine(reach?: Reach): Promise<void>;
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

export function examinerOf(run: Run, { stalls, inDoubt }: Options): Examiner {
  const { clock, log, canaries } = run.ports;
  let health: SelfHealth = inDoubt ? inherited(clock.nowMs()) : { kind: 'sound' };
  /** Ways that somebody asks about since the last examination began, and those that a doubt is about. */
  const asked = new Set<Reach>();
  const doubted = new Set<Reach>(inDoubt ? canaries.map(({ host }) => reachOf(host)) : []);
  const over = new AbortController();
  const stop = () => over.abort();
  let doubtedAtMs = Number.NEGATIVE_INFINITY;
  let jumpedMs = 0;
  let beganAtMs = Number.NEGATIVE_INFINITY;
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  let doubting: Promise<void> | undefined;

  function examine(reach?: Reach): Promise<void> {
    if (reach) asked.add(reach);
    if (!next) {
      next = last.then(examineOnce);
      last = next;
    }
    return next;
  }

  async function examineOnce(): Promise<void> {
    const pauseMs = beganAtMs + examinationIntervalMs - clock.monotonicMs();
    if (pauseMs > 0) await sleep(clock, pauseMs, over.signal);
    next = undefined;
    if (over.signal.aborted) return;
    beganAtMs = clock.monotonicMs();
    const reaches = new Set([...asked, ...doubted]);
    asked.clear();
    const jumpMs = jumpedMs;
    jumpedMs = 0;
    const answers = await Promise.all(canaries.map((canary) => askCanary(run, canary)));
    // What a dialer says that was abandoned is no sign of anything.
    if (over.signal.aborted) return;
    take(findingOf({ canaries: answers, reaches, stalls: stalls.recent(), jumpMs }), reaches);
  }

  function take(finding: Finding, reaches: ReadonlySet<Reach>): void {
    const before = health;
    health = afterExamination(before, finding, clock.nowMs());
    doubted.clear();
    if (!mayTrust(health)) {
      for (const reach of reaches) doubted.add(reach);
      doubting ??= doubt();
    }
    if (!mayTrust(health) || !mayTrust(before)) doubtedAtMs = clock.monotonicMs();
    if (before.kind !== health.kind) log.warn('self-health changed', { shard: run.message.shard, health });
  }

  async function doubt(): Promise<void> {
    const unwatch = stalls.watch();
    while (!mayTrust(health) && !over.signal.aborted) {
      await sleep(clock, doubtIntervalMs, over.signal);
      await examine();
    }
    unwatch();
    doubting = undefined;
  }

  run.signal.addEventListener('abort', stop);
  if (inDoubt) doubting = doubt();
  return {
    examine,
    health: () => health,
    doubtedSince: (sinceMs) => doubtedAtMs > sinceMs,
    jumped(jumpMs) {
      jumpedMs += jumpMs;
      void examine();
    },
    async stop() {
      stop();
      run.signal.removeEventListener('abort', stop);
      await doubting;
      await last;
    },
    isStopped: () => over.signal.aborted,
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
  return { reach: reachOf(host), trouble: canaryTrouble(dialed) };
}
