/** What a busy machine costs a process: time in which it could run and had no processor. */
import { readFileSync } from 'node:fs';
import { waitedMsOf } from '../../shared/lib/cpu-time.ts';

/** Of the process' main thread since its start, in ms. 0 on other systems than Linux. */
export function waitedForProcessorMs(pid: number): number {
  if (process.platform !== 'linux') return 0;
  return waitedMsOf(readFileSync(`/proc/${pid}/schedstat`, 'latin1'));
}
