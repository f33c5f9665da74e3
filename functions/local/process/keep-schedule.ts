/** Runs the schedule within a process: at the start, every minute, and on demand. */
import { sleep } from '../../../shared/lib/clock.ts';
import {
  runSchedule,
  type ScheduleOptions,
  type ScheduleOutcome,
  type SchedulePorts,
} from '../../../shared/schedule/schedule.ts';

const scheduleIntervalMs = 60_000;

export type KeptSchedule = {
  wake(): void;
  /** Whether the last run succeeded. */
  succeeds(): boolean;
  /** Returns the result of the last successful run, or undefined before the first. */
  outcome(): ScheduleOutcome | undefined;
  /** Resolves after the stop. */
  readonly ended: Promise<void>;
};

/** `repeatCurrent` applies only until the first successful run. */
export function keepSchedule(ports: SchedulePorts, options: ScheduleOptions, stop: AbortSignal): KeptSchedule {
  const { clock, log } = ports;
  let waiting = new AbortController();
  let succeeded = false;
  let outcome: ScheduleOutcome | undefined;
  const wake = () => waiting.abort();
  stop.addEventListener('abort', wake);

  async function keep(): Promise<void> {
    for (let repeatCurrent = options.repeatCurrent ?? false; !stop.aborted; ) {
      waiting = new AbortController();
      try {
        outcome = await runSchedule(ports, { ...options, repeatCurrent });
        repeatCurrent = false;
        succeeded = true;
      } catch (cause) {
        succeeded = false;
        log.error('the schedule failed', { cause });
      }
      if (!stop.aborted) await sleep(clock, scheduleIntervalMs, waiting.signal);
    }
  }
  return { wake, succeeds: () => succeeded, outcome: () => outcome, ended: keep() };
}
