/** What the machine's host gave to others while something was measured, as far as the kernel knows. */
import { existsSync, readFileSync } from 'node:fs';

const path = '/proc/stat';
/** Of its first line, proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal. */
const fields = 8;

function ticks(): readonly number[] {
  const [line = ''] = readFileSync(path, 'utf8').split('\n', 1);
  const [, ...counts] = line.split(/\s+/);
  return counts.slice(0, fields).map(Number);
}

/** Begins to count. The result returns which share of the CPU time, in percent, was stolen since; NaN: not on Linux. */
export function watchStolen(): () => number {
  if (!existsSync(path)) return () => Number.NaN;
  const before = ticks();
  return () => {
    const since = ticks().map((count, place) => count - (before[place] ?? 0));
    const all = since.reduce((sum, count) => sum + count, 0);
    return all === 0 ? 0 : (100 * (since[fields - 1] ?? 0)) / all;
  };
}
