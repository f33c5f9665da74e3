/** The tables of `npm run scale`, in Markdown. */
import { bucketCount } from '../../shared/core/shards/slots.ts';
import { type Component, components, totalOf } from './counts.ts';
import { functionMb, syncsMax } from './fleet.ts';
import { type LimitRow, limitRows, rates } from './limits.ts';
import type { SimulatedFleet } from './simulate-fleet.ts';
import { calculatedFleet, loadsPerSlot, type SizedFleet, slotMinutes, weighingMs } from './sizes.ts';

/** `fleets`: from the smallest to the largest. The next one is calculated from the largest. */
export function tables(fleets: readonly SimulatedFleet[]): string {
  const sized = fleets.map((fleet): SizedFleet => ({ ...fleet, isSimulated: true }));
  const [before, last] = sized.slice(-2);
  const measured = fleets.findLast(({ registering }) => registering);
  if (!before || !last || !measured?.registering || !measured.listing) throw new Error('too few fleets');
  const next = calculatedFleet(last, 10 * last.targets);
  const all = [...sized, next];
  return [
    '## A minute\n',
    table(
      ['targets', '', 'component', 'read units', 'write units', 'calls', 'vCPU', 'memory MB', 'shards'],
      all.flatMap((fleet) => components.map((component) => minuteCells(fleet, component))),
    ),
    '## What is stored and read\n',
    table(storedColumns, all.map(storedCells)),
    `## One registration, up to its first status (of ${measured.targets} targets)\n`,
    table(
      ['component', 'read units', 'write units', 'calls'],
      Object.entries(measured.registering.each).map(([component, { reads, writes, calls }]) => [
        component,
        ...[reads, writes, calls].map((value) => value.toFixed(1)),
      ]),
    ),
    `## The list of all targets (of ${measured.targets} targets, ${measured.listing.targets.toFixed(0)} a page)\n`,
    table(['targets', 'pages', 'read units', 'one after the other'], all.map(listCells(measured.listing))),
    `## Limits at ${grouped(next.targets)} targets\n`,
    table(['what', 'value', 'limit', 'part', 'reached at'], sortedLimits(next).map(limitCells)),
    '## Changes that come at once\n',
    table(
      ['what', 'a second', `${grouped(next.targets)} take`],
      rates(next, measured.registering).map(([what, rate]) => [what, rate.toFixed(0), duration(next.targets / rate)]),
    ),
    `## Calculated by simulated: ${grouped(last.targets)} targets from ${grouped(before.targets)}\n`,
    table(
      ['component', 'read units', 'write units', 'calls', 'vCPU'],
      checkCells(calculatedFleet(before, last.targets), last),
    ),
  ].join('\n');
}

function minuteCells(fleet: SizedFleet, component: Component): readonly string[] {
  const counts = fleet.minute[component];
  const { reads, writes, calls } = totalOf(counts);
  return [
    grouped(fleet.targets),
    fleet.isSimulated ? 'simulated' : 'calculated',
    component,
    ...[reads, writes, calls].map(grouped),
    (counts.cpuMs / 60_000).toPrecision(2),
    memoryOf(fleet, component),
    component === 'prober' ? `${fleet.shards}` : '',
  ];
}

function memoryOf({ memorySize, shards }: SizedFleet, component: Component): string {
  switch (component) {
    case 'prober':
      return `${shards} x ${memorySize}`;
    case 'status-sync':
      return `at most ${syncsMax} x ${functionMb[component]}`;
    case 'schedule':
    case 'api':
      return `${functionMb[component]}`;
  }
}

const storedColumns = [
  ...['targets', 'LAYOUT KB', 'its read units a minute', 'CHANGES KB', 'its read units a minute', 'WEIGHT KB'],
  ...[
    'its read units a minute',
    'load of all, read units',
    `a minute, ${loadsPerSlot} in ${slotMinutes} min`,
    'weighing a bucket',
  ],
];

function storedCells({ targets, bytes, minute, loadUnits, weighMs }: SizedFleet): readonly string[] {
  const readsOf = (site: string) =>
    components.reduce((sum, component) => sum + (minute[component].sites.get(site)?.reads ?? 0), 0);
  return [
    grouped(targets),
    (bytes.layout / 1_024).toFixed(1),
    grouped(readsOf('get LAYOUT')),
    (bytes.changes / 1_024).toFixed(0),
    grouped(readsOf('query CHANGES')),
    (bytes.weights / 1_024).toFixed(0),
    grouped(readsOf('query WEIGHT')),
    grouped(loadUnits),
    grouped((loadsPerSlot * loadUnits) / slotMinutes),
    `${(weighingMs(weighMs) / 1_000).toFixed(2)} s`,
  ];
}

const listCells =
  (page: NonNullable<SimulatedFleet['listing']>) =>
  ({ targets }: SizedFleet): readonly string[] => {
    const pages = Math.ceil(targets / page.targets);
    return [grouped(targets), grouped(pages), grouped(pages * page.reads), duration((pages * page.ms) / 1_000)];
  };

/** What breaks first, first. */
const sortedLimits = (fleet: SizedFleet): readonly LimitRow[] =>
  limitRows(fleet).toSorted((one, other) => other.value / other.max - one.value / one.max);

const limitCells = ({ what, value, max, unit, targets }: LimitRow): readonly string[] => [
  what,
  `${rounded(value)} ${unit}`,
  `${grouped(max)} ${unit}`,
  `${((100 * value) / max).toFixed(0)} %`,
  targets === undefined ? `never: at most ${bucketCount} shards` : grouped(targets),
];

function checkCells(calculated: SizedFleet, simulated: SizedFleet): readonly (readonly string[])[] {
  return components.map((component) => {
    const [one, other] = [calculated, simulated].map(({ minute }) => minute[component]);
    if (!one || !other) throw new Error(component);
    const [counted, real] = [totalOf(one), totalOf(other)];
    return [
      component,
      ...[
        [counted.reads, real.reads],
        [counted.writes, real.writes],
        [counted.calls, real.calls],
        [one.cpuMs, other.cpuMs],
      ].map(([left = 0, right = 0]) => (right === 0 ? '-' : (left / right).toFixed(2))),
    ];
  });
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(0)} s`;
  return seconds < 3_600 ? `${(seconds / 60).toFixed(0)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}

const rounded = (value: number): string => (value < 10 ? value.toFixed(1) : grouped(value));

const grouped = (value: number): string => Math.round(value).toLocaleString('en-US');

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
