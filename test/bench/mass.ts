/**
 * `npm run bench:mass [-- --targets N,N] [--stores NAME,NAME]`: all targets of one shard go down at once. How long
 * until the first, half and all of them are published, how fast the commits go, and whether every status is right in
 * the end. `stolen`: what the machine's host gave to others meanwhile.
 */
import { parseArgs } from 'node:util';
import { dynamodbTable, sqliteFile } from './mass/bench-store.ts';
import { type MassEvent, measureMassEvent } from './mass/mass-event.ts';
import { watchStolen } from './stolen.ts';

const opened = { sqlite: sqliteFile, dynamodb: dynamodbTable } as const;
type StoreName = keyof typeof opened;
const isStoreName = (name: string): name is StoreName => Object.hasOwn(opened, name);

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: '500,2000,10000' },
    stores: { type: 'string', default: Object.keys(opened).join() },
  },
});
const counts = values.targets.split(',').map(Number);
const stores = values.stores.split(',').filter(isStoreName);

const headings = ['store', 'targets', 'first', 'half', 'all published', 'commits/s, in the best second'];
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
console.log(row([...headings, 'status right', 'within', 'Unknown', 'longest between beats', 'doubts', 'stolen']));
console.log(row(Array.from({ length: headings.length + 6 }, () => '---')));

let allRight = true;
for (const name of stores)
  for (const targets of counts) {
    const store = await opened[name]();
    const stolen = watchStolen();
    const event = await measureMassEvent(store, targets).finally(store.close);
    allRight &&= event.right === targets;
    console.log(row([name, `${targets}`, ...cellsOf(event), `${stolen().toFixed(0)} %`]));
  }
process.exit(allRight ? 0 : 1);

function cellsOf(event: MassEvent): readonly string[] {
  const { firstMs, halfMs, allMs, commitsInBestSecond, right, rightMs, unknown, beatGapMs, doubts } = event;
  const published = [...[firstMs, halfMs, allMs].map(seconds), commitsInBestSecond];
  return [...published, right, seconds(rightMs), unknown, seconds(beatGapMs), doubts].map(String);
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? 'never' : `${(ms / 1_000).toFixed(1)} s`;
}
