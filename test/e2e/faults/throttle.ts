/** A child process that is held to 0.15 of a core. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';

/** 0.15 of a core, in the periods of 100 ms in which the kernel's scheduler deals it. */
const quota = { cpuMs: 15, everyMs: 100, lookMs: 2 };

/**
 * A CPU quota as `cpu.max` of a control group sets it, by SIGSTOP and SIGCONT, since a test has no rights on control
 * groups: in each period the process runs until its main thread has used its share, and then stands still.
 */
export function throttle(child: ChildProcess): { readonly end: () => void } {
  let isOver = false;
  let used = { sinceMs: performance.now(), cpuMs: cpuMsOf(child) };
  let isStopped = false;
  const look = () => {
    if (performance.now() - used.sinceMs >= quota.everyMs) {
      used = { sinceMs: performance.now(), cpuMs: cpuMsOf(child) };
      if (isStopped) isStopped = !child.kill('SIGCONT');
    }
    if (!isStopped && cpuMsOf(child) - used.cpuMs >= quota.cpuMs) isStopped = child.kill('SIGSTOP');
  };
  const keep = async () => {
    for (; !isOver; await sleep(systemClock, quota.lookMs)) look();
  };
  void keep();
  return {
    end() {
      isOver = true;
    },
  };
}

/** Of its main thread, which the kernel counts in nanoseconds. */
const cpuMsOf = ({ pid }: ChildProcess): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000_000;
