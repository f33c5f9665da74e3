/**
 * `npm start -- --control`: the API and the schedule for several workers. It does not probe and keeps no state in
 * memory.
 */
import { apiApp } from '../../../shared/api/app.ts';
import type { ShardDoubt } from '../../../shared/api/ports/deps.ts';
import { functionMb } from '../../../shared/core/shards/layout.ts';
import { fleetLimits, withLimits } from '../../../shared/core/shards/quota.ts';
import type { ScheduleOutcome } from '../../../shared/schedule/schedule.ts';
import { storedQuotas } from '../../../shared/table/quotas.ts';
import { poisonList } from '../metrics/poison-list.ts';
import type { ControlOptions } from '../options/options.ts';
import { controlAdvise } from './advice.ts';
import type { ServedPorts } from './aws-services.ts';
import { keepSchedule } from './keep-schedule.ts';
import { syncedBus } from './status-sync.ts';

export type Control = {
  readonly fetch: (request: Request) => Promise<Response>;
  stop(): Promise<void>;
};

/** Two control processes may run at once: each finds what the other has written or sent. */
export function startControl(
  options: Pick<ControlOptions, 'release' | 'token' | 'mode' | 'quotas' | 'allowExec' | 'secretHosts'>,
  ports: ServedPorts,
): Control {
  const { release, token, mode = 'auto', quotas = {} } = options;
  const { clock, random, log, services } = ports;
  const { store, queue } = services;
  const bus = syncedBus({ clock, random, log, store }, services.bus);
  const stop = new AbortController();
  const schedule = keepSchedule(
    { clock, random, log, store, queue, bus },
    { desiredRelease: release, mode },
    stop.signal,
  );
  const met = poisonList(clock);
  const app = apiApp({
    store,
    bus,
    clock,
    random,
    log,
    onPoison: met.add,
    quotas: storedQuotas(withLimits(fleetLimits(functionMb), quotas), { store, clock }),
    advise: controlAdvise(options),
    health: () => ({ ok: schedule.succeeds(), quarantined: met.with([]), doubts: doubtsOf(schedule.outcome()) }),
    ...(token !== undefined && { token }),
  });
  return {
    fetch: app.fetch,
    async stop() {
      stop.abort();
      await schedule.ended;
      await bus.settled();
    },
  };
}

/** As of the schedule's last run. The prober's process and the event `Prober Degraded` give the reason. */
const doubtsOf = (outcome: ScheduleOutcome | undefined): readonly ShardDoubt[] => [
  ...(outcome?.degraded ?? []).map((shard) => ({ shard, reason: 'ProberDegraded' })),
  ...(outcome?.noHolder ?? []).map((shard) => ({ shard, reason: 'NoHolder' })),
];
