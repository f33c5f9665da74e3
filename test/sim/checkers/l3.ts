/**
 * L3: what has really been so for failureThreshold (successThreshold) periods and 240 s more has been detected, whatever went wrong
 * meanwhile, as long as the store was there and nothing kept the worker from probing.
 */
import { worldStartMs } from '../clock.ts';
import type { Endpoint, Health } from '../network.ts';
import { type Checker, type Facts, isProbed } from './checker.ts';

const slackMs = 240_000;

/** What a probe of it would say; undefined: it does not say. */
function resultOf(health: Health): 'success' | 'failure' | undefined {
  if (health === 'errs') return undefined;
  return health === 'failing' || health === 'hanging' ? 'failure' : 'success';
}

export const l3: Checker = (facts, violated) => {
  const told = new Set<string>();
  const look = (endpoint: Endpoint, health: Health, sinceMs: number) => {
    const { ledger, nowMs } = facts;
    const wanted = resultOf(health);
    const probed = ledger.probedAt(endpoint);
    const item = probed && ledger.probeItem(probed);
    if (!wanted || !probed || !item || item.result === wanted || !isProbed(facts, probed, item)) return;
    const { periodSeconds, failureThreshold, successThreshold, initialDelaySeconds, timeoutSeconds } =
      probed.probe.probe;
    const threshold = wanted === 'failure' ? failureThreshold : successThreshold;
    const needMs = (threshold * Math.max(periodSeconds, timeoutSeconds) + initialDelaySeconds) * 1000;
    // What was detected and then taken back is wrong since then; whether it may have been, other invariants say.
    const wrongSinceMs = Math.max(sinceMs, item.sinceMs - worldStartMs);
    const fromMs = Math.max(wrongSinceMs, ledger.disturbedMs(probed.uid), lastOutageMs(facts));
    const dueMs = fromMs + needMs + slackMs + missedMs(facts, fromMs);
    const name = `${endpoint} ${fromMs}`;
    if (nowMs() <= dueMs || told.has(name)) return;
    told.add(name);
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

const outageLookMs = 1_500_000;

function lastOutageMs({ faults, nowMs }: Facts): number {
  const outages = faults.during(nowMs() - outageLookMs, nowMs()).filter(({ kind }) => kind === 'store outage');
  return Math.max(0, ...outages.map(({ untilMs }) => untilMs));
}

const minuteMs = 60_000;

/** A holder that died before its first heartbeat is replaced by the schedule: each tick that does not come, or late, costs a minute. */
function missedMs({ faults, nowMs }: Facts, fromMs: number): number {
  return (
    minuteMs *
    faults.during(fromMs, nowMs()).filter(({ kind }) => kind === 'tick missing' || kind === 'tick late').length
  );
}
