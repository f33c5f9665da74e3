/**
 * WrongClocks: whatever wall clocks are set to, every due probe is made soon: within a minute beside its period if
 * clock steps are the only fault, otherwise in the calm, after recovery, as soon as a rescue can come, as a schedule
 * whose clock is behind knows no slot after one that is done.
 */
import type { ProbeRecord } from '../../../shared/core/spec/records.ts';
import type { Probed } from '../ledger.ts';
import { type Checker, isProbed, recoveryMs } from './checker.ts';

const resumesMs = 60_000;
/** A tick, a beat that is old enough only at the next tick, the look of a rescue, and its claim. */
const rescuedMs = 60_000 + 30_000 + 6_000 + 4_000;
/** How often it is looked. */
const tickMs = 10_000;

/** When the probe was last not due, and when it was last made. */
type Followed = { idleMs: number; probedMs: number };

export const wrongClocks: Checker = (facts, violated) => {
  const { ledger, profile, nowMs, faults } = facts;
  const laterMs = profile.clockSteps === 'only' ? resumesMs : rescuedMs;
  /** By PROBE item. */
  let all = new Map<string, Followed>();

  const dueMs = ({ probe }: Probed, { idleMs, probedMs }: Followed): number => {
    const { periodSeconds, initialDelaySeconds } = probe.probe;
    const waitMs = periodSeconds * 1_000 + initialDelaySeconds * 1_000 + laterMs + tickMs;
    return Math.max(idleMs, probedMs) + waitMs;
  };

  const mayBeDisturbed = (): boolean => {
    if (profile.clockSteps === 'only') return false;
    const calmMs = faults.calmSinceMs();
    return calmMs === undefined || nowMs() < Math.max(calmMs, faults.lockedMs()) + recoveryMs;
  };

  const look = (probed: Probed, item: ProbeRecord, followed: Followed) => {
    if (mayBeDisturbed() || !isProbed(facts, probed, item)) followed.idleMs = nowMs();
    if (nowMs() <= dueMs(probed, followed)) return;
    violated(`${probed.key.sk} was not probed since ${followed.probedMs}`);
    followed.idleMs = nowMs();
  };

  return {
    probeStarted({ endpoint, startMs }) {
      const followed = all.get(ledger.probedAt(endpoint)?.key.sk ?? '');
      if (followed) followed.probedMs = startMs;
    },
    ticked() {
      if (profile.clockSteps === undefined) return;
      const before = all;
      all = new Map();
      for (const target of ledger.targets())
        for (const { probed, item } of ledger.probesOf(target)) {
          const followed = before.get(probed.key.sk) ?? { idleMs: nowMs(), probedMs: Number.NEGATIVE_INFINITY };
          all.set(probed.key.sk, followed);
          look(probed, item, followed);
        }
    },
  };
};
