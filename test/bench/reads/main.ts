/**
 * `npm run bench:reads`: what reading costs a process that probes many targets. For a scrape of `/metrics`, plain and
 * compressed, and for a list of all targets in pages: its time, its CPU, and for how long it blocks the event loop at
 * most. Beside it, the same without a read. `-- --targets 10000 --reads 5 --only metrics,list`; what follows a second
 * `--` are options of the process.
 */
import { parseArgs } from 'node:util';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { startRestartWorld } from '../restart/world.ts';
import type { LoopDelay } from './loop-delay.ts';
import { startWatched, type Watched } from './process.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    targets: { type: 'string', default: '10000' },
    reads: { type: 'string', default: '5' },
    only: { type: 'string', default: 'metrics,list' },
  },
});

const periodSeconds = 10;
const pageTargets = 500;
const restMs = 1_000;
/** The process closes an idle connection when it likes, which must not hit the next request. */
const once = { connection: 'close' };

type Read = LoopDelay & { readonly ms: number; readonly bytes: number };

/** Waits before, so that what the last one left behind is not counted. */
async function measured(process: Watched, read: () => Promise<number>): Promise<Read> {
  await sleep(systemClock, restMs);
  await process.loopDelay();
  const beganAtMs = performance.now();
  const bytes = await read();
  const ms = performance.now() - beganAtMs;
  return { ms, bytes, ...(await process.loopDelay()) };
}

const columns: readonly (readonly [name: string, of: (read: Read) => number])[] = [
  ['time ms', ({ ms }) => ms],
  ['CPU ms', ({ cpuMs }) => cpuMs],
  ['blocked ms', ({ blockedMs }) => blockedMs],
  ['blocked CPU', ({ blockedCpuMs }) => blockedCpuMs],
  ['body MB', ({ bytes }) => bytes / 1e6],
];

function say(what: string, cells: readonly string[]): void {
  console.log(`${what.padEnd(24)}${cells.map((cell) => cell.padStart(18)).join('')}`);
}

/** Prints the median and, in brackets, the greatest. */
async function measure(process: Watched, what: string, read: () => Promise<number>): Promise<void> {
  const reads: Read[] = [];
  for (let at = 0; at < Number(values.reads); at += 1) reads.push(await measured(process, read));
  const cells = columns.map(([, of]) => {
    const sorted = reads.map(of).toSorted((a, b) => a - b);
    return `${sorted[Math.floor(sorted.length / 2)]?.toFixed(1)} (${sorted.at(-1)?.toFixed(1)})`;
  });
  say(what, cells);
}

/** Returns the bytes of the text. */
async function scrape({ url }: Watched, encoding: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { 'accept-encoding': encoding, ...once } });
  return (await response.arrayBuffer()).byteLength;
}

type Page = { readonly metadata: { readonly continue?: string }; readonly items: readonly object[] };

/** Reads all pages, one after the other, and returns their bytes. @throws if a target is missing */
async function list({ url }: Watched): Promise<number> {
  let [bytes, targets] = [0, 0];
  for (let from = '', isLast = false; !isLast; ) {
    const answer = await fetch(`${url}/v1/namespaces/default/targets?limit=${pageTargets}${from}`, { headers: once });
    const text = await answer.text();
    const { metadata, items } = JSON.parse(text) as Page;
    bytes += text.length;
    targets += items.length;
    from = `&continue=${encodeURIComponent(metadata.continue ?? '')}`;
    isLast = metadata.continue === undefined;
  }
  if (targets !== Number(values.targets)) throw new Error(`the list has ${targets} targets`);
  return bytes;
}

const asks = (what: string): boolean => values.only.split(',').includes(what);

const world = await startRestartWorld(Number(values.targets), periodSeconds);
try {
  const process = await startWatched(world.dataDir, positionals);
  say(
    '',
    columns.map(([name]) => name),
  );
  await measure(process, 'nothing, for a second', () => sleep(systemClock, restMs).then(() => 0));
  if (asks('metrics')) await measure(process, 'scrape', () => scrape(process, 'identity'));
  if (asks('metrics')) await measure(process, 'scrape, gzip', () => scrape(process, 'gzip'));
  if (asks('list')) await measure(process, `list, pages of ${pageTargets}`, () => list(process));
  await process.stop();
} finally {
  world.close();
}
