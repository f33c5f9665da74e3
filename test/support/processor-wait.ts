/** What a busy machine costs a process: time in which it could run and had no processor. */
import { readFileSync } from 'node:fs';

const nanosecondsPerMs = 1e6;

/** Of the process' main thread since its start, in ms: the second of Linux' counters. 0 on other systems. */
export function waitedForProcessorMs(pid: number): number {
  if (process.platform !== 'linux') return 0;
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / nanosecondsPerMs;
}
