/** How much CPU this process has used, and how long it had to wait for more. */
import { openSync, readSync } from 'node:fs';

/** Longer than the three numbers of the file. */
const statBytesMax = 128;
const nsPerMs = 1e6;

/**
 * CPU time that all threads of this process have used, and time that its main thread was ready to run and waited for a
 * core, in ms. A process that starves beside others, or beyond its quota, wants the CPU: it does not stand still.
 */
export function systemCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + waitedMs();
}

let schedulerStat: number | undefined;
const bytes = Buffer.alloc(statBytesMax);

/** 0 where the system does not say it: elsewhere than on Linux, or where its scheduler keeps no statistics. */
function waitedMs(): number {
  try {
    // Opened once, because it is read with every tick of the stall watch.
    schedulerStat ??= openSync('/proc/self/schedstat', 'r');
    return waitedMsOf(bytes.toString('latin1', 0, readSync(schedulerStat, bytes, 0, statBytesMax, 0)));
  } catch {
    return 0;
  }
}

/**
 * The second number of `/proc/PID/schedstat`: "time spent waiting on a runqueue (in nanoseconds)". Source: the kernel's
 * Documentation/scheduler/sched-stats.rst.
 */
export const waitedMsOf = (text: string): number => (Number(text.split(' ')[1]) || 0) / nsPerMs;
