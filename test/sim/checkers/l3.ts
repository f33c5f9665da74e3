/**
 * L3: a state of an endpoint is detected within failureThreshold (successThreshold) periods and 240 s more, whatever
 * faults happen, as long as the store is available, the prober's release starts, and the worker may probe. A long run
 * of results loses with each holder what came after the last checkpoint.
 */
import { worldStartMs } from '../clock.ts';
import type { Probed } from '../ledger.ts';
import type { Endpoint, Health } from '../network.ts';
import { type Checker, type Facts, isProbed, lockAftermathMs } from './checker.ts';
import { isTick, spacingMs } from './tick.ts';
import { strikesHolders } from './touched.ts';
import { resultOf } from './verdicts.ts';

const slackMs = 240_000;

export const l3: Checker = (facts, violated) => {
  const reported = new Set<string>();
  const look = (endpoint: Endpoint, health: Health, sinceMs: number) => {
    const { ledger, nowMs } = facts;
    const wanted = resultOf(health);
    const probed = ledger.probedAt(endpoint);
    const item = probed && ledger.probeItem(probed);
    if (!wanted || !probed || !item || item.result === wanted || !isProbed(facts, probed, item)) return;
    const { failureThreshold, successThreshold, initialDelaySeconds, timeoutSeconds } = probed.probe.probe;
    // A probe that may hang for longer than its period waits for sockets, for a time that depends on their number.
    if (timeoutSeconds > probed.probe.probe.periodSeconds) return;
    const threshold = wanted === 'failure' ? failureThreshold : successThreshold;
    const eachMs = Math.max(spacingMs(facts, probed), rescuedMs(facts, probed), timeoutSeconds * 1000);
    const needMs = threshold * eachMs + initialDelaySeconds * 1000;
    // A result that turned back is wrong since then; other invariants judge whether it may have turned.
    const wrongSinceMs = Math.max(sinceMs, item.sinceMs - worldStartMs);
    const fromMs = Math.max(wrongSinceMs, ledger.disturbedMs(probed.uid), lastOutageMs(facts));
    const lostMs = needMs > checkpointMs ? strikes(facts, fromMs) * struckMs : 0;
    const dueMs = fromMs + needMs + slackMs + missedMs(facts, fromMs) + lostMs;
    const name = `${endpoint} ${fromMs}`;
    if (nowMs() <= dueMs || reported.has(name)) return;
    reported.add(name);
    violated(
      `${endpoint} is ${health} since ${sinceMs}, ${probed.address.prefix}${probed.name} still ${item.result} (from ${fromMs})`,
    );
  };
  return {
    ticked() {
      for (const [endpoint, { health, sinceMs }] of facts.network.truths()) look(endpoint, health, sinceMs);
    },
  };
};

/**
 * While a group is locked by a receiver that died before its first lease, only rescues hold a shard in tick mode, one
 * after each three minutes without a beat. The lock lasts for the queue's visibility time-out.
 */
const rescueEveryMs = 300_000;

function rescuedMs(facts: Facts, { address }: Probed): number {
  const isLocked = facts.faults.lockedMs() > facts.nowMs() - facts.profile.queueVisibilityMs - lockAftermathMs;
  return isLocked && isTick(facts, address) ? rescueEveryMs : 0;
}

/** A take-over continues, 25 s after the fault, with the run lengths of the last checkpoint. */
const checkpointMs = 60_000;
const struckMs = checkpointMs + 25_000;
/** A second fault within this time hits the same holder. */
const struckAgainMs = 30_000;

/** How often faults may have ended a holder since then. */
function strikes({ faults, nowMs }: Facts, fromMs: number): number {
  const instants = faults
    .during(fromMs, nowMs())
    .filter(strikesHolders)
    .map(({ timeMs }) => timeMs)
    .sort((one, other) => one - other);
  let count = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const timeMs of instants) {
    if (timeMs < lastMs + struckAgainMs) continue;
    count += 1;
    lastMs = timeMs;
  }
  return count;
}

const outageLookMs = 1_500_000;

/** A release that does not start takes every rescue of a shard that has lost its holder. */
function lastOutageMs({ faults, nowMs }: Facts): number {
  const outages = faults
    .during(nowMs() - outageLookMs, nowMs())
    .filter(({ kind }) => kind === 'store outage' || kind === 'release broken');
  return Math.max(0, ...outages.map(({ untilMs }) => untilMs));
}

const minuteMs = 60_000;

/** The schedule replaces a holder that died before its first heartbeat; a missing or late tick costs a minute. */
function missedMs({ faults, nowMs }: Facts, fromMs: number): number {
  return (
    minuteMs *
    faults.during(fromMs, nowMs()).filter(({ kind }) => kind === 'tick missing' || kind === 'tick late').length
  );
}
