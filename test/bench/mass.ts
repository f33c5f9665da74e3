/**
 * `npm run bench:mass [-- --targets N,N] [--stores NAME,NAME] [--write-units N,N]`: all targets of one shard go down at
 * once. How long until the first, half and all of them are published, how fast the commits go, and whether every status
 * is right in the end. `--write-units`: on DynamoDB Local with so many write units a second in place of `--stores`;
 * `least` is how long the table needs for the units that were used, whatever its clients do. `stolen`: what the
 * machine's host gave to others meanwhile.
 */
import { parseArgs } from 'node:util';
import { type BenchStore, dynamodbTable, limitedTable, sqliteFile } from './mass/bench-store.ts';
import { type MassEvent, measureMassEvent } from './mass/mass-event.ts';
import { watchStolen } from './stolen.ts';

const opened = { sqlite: sqliteFile, dynamodb: dynamodbTable } as const;
type StoreName = keyof typeof opened;
const isStoreName = (name: string): name is StoreName => Object.hasOwn(opened, name);

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: '500,2000,10000' },
    stores: { type: 'string', default: Object.keys(opened).join() },
    'write-units': { type: 'string' },
  },
});
const counts = values.targets.split(',').map(Number);
const units = values['write-units']?.split(',').map(Number);
const stores: readonly (readonly [name: string, open: () => Promise<BenchStore>])[] = units
  ? units.map((each) => [`dynamodb, ${each} units/s`, limitedTable(each)])
  : values.stores
      .split(',')
      .filter(isStoreName)
      .map((name) => [name, opened[name]]);

const headings = [
  ...['store', 'targets', 'first', 'half', 'all published', 'least', 'throttled', 'commits/s, in the best second'],
  ...['status right', 'within', 'Unknown', 'longest between beats', 'doubts', 'hand-overs', 'stolen'],
];
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
console.log(row(headings));
console.log(row(headings.map(() => '---')));

let allRight = true;
for (const [name, open] of stores)
  for (const targets of counts) {
    const store = await open();
    const stolen = watchStolen();
    const event = await measureMassEvent(store, targets).finally(store.close);
    allRight &&= event.right === targets && (!store.limited || (event.handOvers === 0 && event.unknown === 0));
    console.log(row([name, `${targets}`, ...cellsOf(event, store), `${stolen().toFixed(0)} %`]));
  }
process.exit(allRight ? 0 : 1);

function cellsOf(event: MassEvent, { limited }: BenchStore): readonly string[] {
  const { firstMs, halfMs, allMs, commitsInBestSecond, right, rightMs, unknown, beatGapMs, doubts, handOvers } = event;
  const leastMs = limited && (limited.counts.units / limited.unitsPerSecond) * 1_000;
  const throttled = limited
    ? `${limited.counts.throttled} of ${limited.counts.throttled + limited.counts.written}`
    : '-';
  const published = [...[firstMs, halfMs, allMs].map(seconds), limited ? seconds(leastMs) : '-', throttled];
  const seen = [commitsInBestSecond, right, seconds(rightMs), unknown, seconds(beatGapMs), doubts, handOvers];
  return [...published, ...seen].map(String);
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? 'never' : `${(ms / 1_000).toFixed(1)} s`;
}
