/** What the machine's host gave to others while something was measured, as far as the kernel knows. */
import { readFileSync } from 'node:fs';

/** Fields of the first line of /proc/stat, proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal. */
const fields = 8;

const ticks = (): readonly number[] =>
  readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)
    .flatMap((line) =>
      line
        .trim()
        .split(/\s+/)
        .slice(1, 1 + fields),
    )
    .map(Number);

/** Begins to count. The result returns which share of the CPU time, in percent, was stolen since. */
export function watchStolen(): () => number {
  const before = ticks();
  return () => {
    const since = ticks().map((count, place) => count - (before[place] ?? 0));
    const all = since.reduce((sum, count) => sum + count, 0);
    return all === 0 ? 0 : (100 * (since[fields - 1] ?? 0)) / all;
  };
}
