/**
 * `npm run scale -- [--targets N]`: simulates fleets of N / 100, N / 10 and N targets (N: 100,000 by default) without
 * faults and calculates one of 10 N: what each component reads, writes and calls a minute, and how close each limit is.
 * docs/scale.md has its output.
 */
import { parseArgs } from 'node:util';
import { tables } from './report.ts';
import { type SimulatedFleet, simulateFleet } from './simulate-fleet.ts';
import { slotMinutes } from './sizes.ts';

const targetsRange = [1_000, 200_000] as const;
/** A larger fleet takes most of a minute of CPU for each simulated one. */
const wholeSlotMax = 10_000;
const shortMinutes = 2;

const targets = targetsOf(process.argv.slice(2));
const fleets: SimulatedFleet[] = [];
for (const size of [targets / 100, targets / 10, targets].map(Math.round)) {
  const isSmall = size <= wholeSlotMax;
  const fleet = await simulateFleet({
    targets: size,
    minutes: isSmall ? slotMinutes : shortMinutes,
    requests: isSmall,
  });
  fleets.push(fleet);
  for (const problem of fleet.problems) console.error(problem);
  console.error(`${size} targets: ${fleet.minutes} min simulated, ${cpuSeconds().toFixed(0)} s of CPU so far`);
}
console.log(tables(fleets));
process.exitCode = fleets.every(({ problems }) => problems.length === 0) ? 0 : 1;

function targetsOf(args: readonly string[]): number {
  const { values } = parseArgs({ args: [...args], options: { targets: { type: 'string', default: '100000' } } });
  const [min, max] = targetsRange;
  const number = Number(values.targets);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  console.error(`--targets wants a whole number from ${min} to ${max}, not '${values.targets}'`);
  process.exit(2);
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
