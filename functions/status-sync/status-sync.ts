/**
 * The status-sync function, which handles batches of bus events from its queue. An event is a hint to check a target,
 * so several events for one target cause one check. Failed messages are reported individually and return; those that
 * keep failing end in the dead-letter queue.
 */

import { deniedForMs } from '../../shared/aws/access.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import { type SyncOutcome, syncTarget, type TargetName } from '../../shared/status-sync/sync.ts';
import { StoreDenied, StoreUnavailable } from '../../shared/store/store.ts';
import type { InvocationContext } from '../lambda/environment.ts';
import type { FunctionPorts } from '../lambda/ports.ts';
import { decodeBatch, type Hint } from './batch.ts';

export type StatusSyncAnswer = { readonly batchItemFailures: readonly { readonly itemIdentifier: string }[] };

/** How many targets are computed at the same time. */
const concurrency = 4;
/**
 * With less time left than this, no new target is started. A status takes a few reads and writes with their retries.
 */
const marginMs = 12_000;
const marginPart = 1 / 3;

export function statusSyncFunction(ports: FunctionPorts) {
  const { log, metrics } = ports;
  const denied = deniedTargets(ports.clock);
  return async (event: unknown, context: InvocationContext): Promise<StatusSyncAnswer> => {
    log.begin(context);
    const { hints, malformed } = decodeBatch(event);
    for (const { detail, isFirst, messageId } of malformed)
      if (isFirst) log.error('malformed event left to the dead-letter queue', { messageId, detail });
    const margin = Math.min(marginMs, context.getRemainingTimeInMillis() * marginPart);
    const hasTime = () => context.getRemainingTimeInMillis() > margin;
    const failed = await syncAll({ ...ports, denied }, [...byTarget(hints).values()], hasTime);
    const all = [...malformed.map(({ messageId }) => messageId), ...failed].filter((id) => id !== undefined);
    metrics.emit({ EventsMalformed: malformed.filter(({ isFirst }) => isFirst).length });
    return { batchItemFailures: all.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

type SyncPorts = FunctionPorts & { readonly denied: DeniedTargets };

type Look = { readonly target: TargetName; readonly messageIds: readonly string[] };

function byTarget(hints: readonly Hint[]): ReadonlyMap<string, Look> {
  const looks = new Map<string, Look>();
  for (const { target, messageId } of hints) {
    const key = `${target.namespace}/${target.name}`;
    const { messageIds = [] } = looks.get(key) ?? {};
    looks.set(key, { target, messageIds: [...messageIds, messageId] });
  }
  return looks;
}

/** Returns the messages whose targets could not be settled. */
async function syncAll(ports: SyncPorts, looks: readonly Look[], hasTime: () => boolean): Promise<readonly string[]> {
  const waiting = [...looks];
  const failed: string[] = [];
  const lane = async () => {
    for (let look = waiting.shift(); look; look = waiting.shift()) {
      const isDone = hasTime() && (await synced(ports, look.target));
      if (!isDone) failed.push(...look.messageIds);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return failed;
}

/** Returns whether the message can be deleted. Incomplete work remains in the outbox, and the holder asks again. */
async function synced(ports: SyncPorts, target: TargetName): Promise<boolean> {
  if (ports.denied.has(target)) return true;
  try {
    const outcome: SyncOutcome = await syncTarget(ports, target);
    if (outcome === 'denied') ports.denied.add(target);
    if (outcome === 'incomplete') ports.log.warn('status not settled', { ...target });
    return true;
  } catch (cause) {
    if (cause instanceof StoreDenied) {
      ports.denied.add(target);
      return true;
    }
    ports.log[cause instanceof StoreUnavailable ? 'warn' : 'error']('status not computed', { ...target, cause });
    return false;
  }
}

/**
 * Targets whose status could not be computed for a missing permission. Their holders keep sending hints. For a while
 * these are acknowledged without an attempt, so that they neither delay other targets nor end in the dead-letter queue.
 */
type DeniedTargets = {
  has(target: TargetName): boolean;
  add(target: TargetName): void;
};

/** Beyond this number, the oldest denial is dropped and its target tried again. */
const targetsMax = 10_000;

export function deniedTargets(clock: Clock): DeniedTargets {
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
