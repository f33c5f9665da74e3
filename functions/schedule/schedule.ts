/**
 * The schedule function. It runs once a minute, but perhaps late, twice or not at all. It keeps no state and all its
 * actions are idempotent, so it ignores its event. It throws any failure: an alarm watches the function's errors, and
 * the next minute retries.
 */
import { capacityOf } from '../../shared/core/shards/layout.ts';
import type { QueueSender } from '../../shared/queue/queue.ts';
import { runSchedule } from '../../shared/schedule/schedule.ts';
import type { Environment, InvocationContext } from '../lambda/environment.ts';
import type { FunctionPorts } from '../lambda/ports.ts';

export type ScheduleFunctionPorts = FunctionPorts &
  Pick<Environment, 'release' | 'mode' | 'capacityMb'> & { readonly queue: QueueSender };

export function scheduleFunction(ports: ScheduleFunctionPorts) {
  const { log, metrics, release, mode } = ports;
  const capacity = capacityOf(ports.capacityMb);
  return async (_: unknown, context: InvocationContext): Promise<void> => {
    log.begin(context);
    try {
      const { layout, notSent, noHolder } = await runSchedule(ports, { desiredRelease: release, capacity, mode });
      if (noHolder.length > 0) log.error('shards without a holder', { shards: noHolder });
      const values = { Shards: layout.length, ShardsWithoutHolder: noHolder.length, MessagesNotSent: notSent };
      metrics.emit(values);
    } catch (cause) {
      log.error('the schedule failed', { cause });
      metrics.emit();
      throw cause;
    }
  };
}
