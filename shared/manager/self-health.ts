/**
 * The prober examines itself before a failure counts: it dials its canaries and asks its event loop and its clocks. All is well and no
 * target fails: nothing is asked. In doubt every verdict is a prober error, until several examinations in a row found nothing.
 */
import type { ProbeReport } from '../core/probe-report.ts';
import {
  afterExamination,
  type CanaryAnswer,
  canaryTrouble,
  findingOf,
  mayTrust,
  needsExamination,
  type Reach,
  reachOf,
  type SelfHealth,
  voided,
} from '../core/self-health.ts';
import type { Attempt } from '../core/types.ts';
import { sleep } from '../lib/clock.ts';
import type { Canary } from './ports.ts';
import type { Run } from './run.ts';
import { stallWatch } from './stall.ts';

/** Less than the second after which a lost SYN is sent again, so that a canary speaks for the time when it was asked. */
const canaryTimeoutMs = 900;
/** While many targets fail one examination serves all that failed before it. */
const examinationIntervalMs = 100;
/** How often a prober in doubt looks again. */
const doubtIntervalMs = 1_000;

/** A probe from its begin to its verdict. */
export type Watched = {
  /** What the report is worth. `changes`: a failure would change what is known of the target. */
  judge<Tried extends Attempt>(
    report: ProbeReport<Tried>,
    about: { readonly reach: Reach; readonly changes: boolean },
  ): Promise<ProbeReport<Tried>>;
  /** Idempotent. */
  done(): void;
};

export type SelfWatch = {
  watch(): Watched;
  health(): SelfHealth;
  /** Wall time moved by so much against monotonic time. */
  jumped(jumpMs: number): void;
  /** Resolves when nothing is under way any more, once the run has ended. */
  stopped(): Promise<void>;
};

/** `inDoubt`: whoever held the shard before was, and said so. */
export function selfWatch(run: Run, inDoubt: boolean): SelfWatch {
  const { clock, log, canaries } = run.ports;
  const stalls = stallWatch(clock);
  let health: SelfHealth = inDoubt ? inherited(clock.nowMs()) : { kind: 'sound' };
  /** Ways that somebody asks about since the last examination began, and those that a doubt is about. */
  const asked = new Set<Reach>();
  const doubted = new Set<Reach>(inDoubt ? canaries.map(({ host }) => reachOf(host)) : []);
  let doubtedAtMs = Number.NEGATIVE_INFINITY;
  let jumpedMs = 0;
  let beganAtMs = Number.NEGATIVE_INFINITY;
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  let doubting: Promise<void> | undefined;

  /** An examination that begins from now on; all who ask until it begins share it. */
  const examine = (): Promise<void> => {
    if (!next) {
      next = last.then(examineOnce);
      last = next;
    }
    return next;
  };

  async function examineOnce(): Promise<void> {
    const pauseMs = beganAtMs + examinationIntervalMs - clock.monotonicMs();
    if (pauseMs > 0) await sleep(clock, pauseMs, run.signal);
    next = undefined;
    if (run.ended()) return;
    beganAtMs = clock.monotonicMs();
    const reaches = new Set([...asked, ...doubted]);
    asked.clear();
    const jumpMs = jumpedMs;
    jumpedMs = 0;
    const answers = await Promise.all(canaries.map((canary) => askCanary(run, canary)));
    const finding = findingOf({ canaries: answers, reaches, stalls: stalls.recent(), jumpMs });
    doubted.clear();
    const before = health;
    health = afterExamination(before, finding, clock.nowMs());
    if (!mayTrust(health)) for (const reach of reaches) doubted.add(reach);
    if (!mayTrust(health) || !mayTrust(before)) doubtedAtMs = clock.monotonicMs();
    if (!mayTrust(health)) doubting ??= doubt();
    if (before.kind !== health.kind) log.warn('self-health changed', { shard: run.message.shard, health });
  }

  /** Looks again and again; whatever is asked meanwhile is answered by its examinations. */
  async function doubt(): Promise<void> {
    const unwatch = stalls.watch();
    while (!mayTrust(health) && !run.ended()) {
      await sleep(clock, doubtIntervalMs, run.signal);
      await examine();
    }
    unwatch();
    doubting = undefined;
  }

  function watch(): Watched {
    const beganAtMs = clock.monotonicMs();
    const unwatch = stalls.watch();
    return {
      done: unwatch,
      async judge(report, { reach, changes }) {
        const needed = needsExamination(report, changes);
        if (report.conclusion.kind === 'error' && !needed) return report;
        if (needed && stalls.stalledSince(beganAtMs)) return voided(report, 'the prober stood still');
        if (needed && mayTrust(health)) {
          asked.add(reach);
          await examine();
        }
        if (!mayTrust(health)) return voided(report, 'the prober doubts itself');
        // The network came back while this probe was under way.
        return doubtedAtMs > beganAtMs ? voided(report, 'the prober doubted itself') : report;
      },
    };
  }

  if (inDoubt) doubting = doubt();
  return {
    watch,
    health: () => health,
    jumped(jumpMs) {
      jumpedMs += jumpMs;
      void examine();
    },
    async stopped() {
      await doubting;
      await last;
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
  return { reach: reachOf(host), trouble: canaryTrouble(dialed) };
}
