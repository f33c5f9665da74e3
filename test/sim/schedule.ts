/** The schedule of a simulated world: woken each minute, or late, twice or not at all by faults. */
import type { Capacity } from '../../shared/core/shards/layout.ts';
import { runSchedule, type SchedulePorts } from '../../shared/schedule/schedule.ts';
import type { Chance } from './chance.ts';
import type { Life, Scheduler } from './clock.ts';

/** The input of the next tick; a deployment changes it. `isBroken`: its prober does not start. */
export type Wanted = { release: string; isBroken: boolean; capacity: Capacity };

/** Processes that can be woken, each with its ports. */
export type Schedules = Map<Life, SchedulePorts>;

export type Waking = {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly schedules: Schedules;
  readonly wanted: Wanted;
  readonly mode: 'auto' | 'tick';
  /** After which delays the tick of this minute comes, one for each time. */
  readonly ticks: () => readonly number[];
  readonly onWoken: (woken: WokenSchedule) => void;
};

/** A tick reached a process. */
export type WokenSchedule = { readonly timeMs: number; readonly process: string };

const minuteMs = 60_000;

export function wakeSchedules(waking: Waking): void {
  const { scheduler } = waking;
  const minute = () => {
    for (const delayMs of waking.ticks()) scheduler.after(delayMs, { label: 'tick', deliver: () => wakeOne(waking) });
    scheduler.after(minuteMs, { label: 'minute', deliver: minute });
  };
  scheduler.after(minuteMs / 30, { label: 'minute', deliver: minute });
}

/** Any of the processes, so that two ticks may be in two of them at once. */
function wakeOne({ scheduler, chance, schedules, wanted, mode, onWoken }: Waking): void {
  for (const life of schedules.keys()) if (!life.alive) schedules.delete(life);
  if (schedules.size === 0) return;
  const [life, ports] = chance.pick([...schedules]);
  const { release: desiredRelease, capacity } = wanted;
  const run = () => {
    onWoken({ timeMs: scheduler.nowMs(), process: life.name });
    return runSchedule(ports, { desiredRelease, capacity, mode }).catch((cause: unknown) =>
      ports.log.warn('tick failed', { cause }),
    );
  };
  scheduler.after(0, { label: 'schedule', life, deliver: () => void run() });
}
