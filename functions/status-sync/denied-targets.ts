/**
 * Targets whose status could not be computed for a missing permission. Their holders keep sending hints. For a while
 * these are acknowledged without an attempt, so that they neither delay other targets nor end in the dead-letter queue.
 */
import { deniedForMs } from '../../shared/aws/access.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { TargetName } from '../../shared/status-sync/sync.ts';

export type DeniedTargets = {
  has(target: TargetName): boolean;
  add(target: TargetName): void;
};

/** Beyond this number, the oldest denial is dropped and its target tried again. */
const targetsMax = 10_000;

export function deniedTargets({ clock }: { readonly clock: Pick<Clock, 'monotonicMs'> }): DeniedTargets {
  const untilMs = new Map<string, number>();
  return {
    has: (target) => clock.monotonicMs() < (untilMs.get(keyOf(target)) ?? Number.NEGATIVE_INFINITY),
    add(target) {
      untilMs.delete(keyOf(target));
      untilMs.set(keyOf(target), clock.monotonicMs() + deniedForMs);
      const [oldest] = untilMs.keys();
      if (oldest !== undefined && untilMs.size > targetsMax) untilMs.delete(oldest);
    },
  };
}

const keyOf = ({ namespace, name }: TargetName): string => `${namespace}/${name}`;
