/**
 * `npm run bench:memory`: what `npm start` holds in memory, without targets and with many that are probed: resident and
 * anonymous MB, the live heap, and the bytes of a target by structure. `-- --targets 1000 --period 1`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { probeletClient } from '../../../functions/client/probelet-client.ts';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { isHealthy, type Product, startProduct } from '../../local/product.ts';
import { forkServer } from '../../support/children.ts';
import { type Memory, memoryOf, mib } from '../../support/process-memory.ts';
import { until } from '../../support/wait.ts';
import { hostOf } from '../hosts.ts';
import { productOptions } from '../world.ts';
import { type Heap, heapOf } from './heap-snapshot.ts';
import { structuresOf } from './structures.ts';

const { values } = parseArgs({
  options: { targets: { type: 'string', default: '1000' }, period: { type: 'string', default: '1' } },
});
const targets = Number(values.targets);

/** The properties by which a target that a run holds is known: shared/holder/probing/worker.ts. */
const heldTarget = ['address', 'target', 'status', 'records', 'workers'];
/** V8 gives back what it does not need within some collections. */
const settleMs = 20_000;
const snapshotWithinMs = 120_000;
/** Smaller structures are printed together. */
const shownBytes = 100;

async function settled(product: Product): Promise<Memory> {
  await sleep(systemClock, settleMs);
  return memoryOf(product.child);
}

/** Once its file has stopped growing. */
async function snapshotOf(product: Product, folder: string): Promise<Heap> {
  const before = new Set(readdirSync(folder));
  product.child.kill('SIGUSR2');
  let bytes = -1;
  const file = await until('the snapshot is written', { withinMs: snapshotWithinMs, pollMs: 1_000 }, () => {
    const name = readdirSync(folder).find((one) => one.endsWith('.heapsnapshot') && !before.has(one));
    if (name === undefined) return undefined;
    const { size } = statSync(join(folder, name));
    const isWhole = size > 0 && size === bytes;
    bytes = size;
    return isWhole ? join(folder, name) : undefined;
  });
  return heapOf(readFileSync(file, 'utf8'));
}

function liveBytes(heap: Heap): number {
  let bytes = 0;
  for (let node = 0; node < heap.nodes; node += 1) bytes += heap.bytes(node);
  return bytes;
}

async function registerAll(url: string, port: number): Promise<void> {
  const client = probeletClient({ url, timeoutMs: 600_000 });
  const manifests = Array.from({ length: targets }, (_, at) => ({
    metadata: { namespace: 'default', name: `memory-${at}` },
    spec: {
      host: hostOf(at),
      readinessProbe: { httpGet: { port, path: `/t/${at}` }, periodSeconds: Number(values.period), timeoutSeconds: 5 },
    },
  }));
  const lines = (await client.applyLines({ manifests })) ?? [];
  const refused = lines.find(({ status }) => status !== 201);
  if (refused) throw new Error(JSON.stringify(refused));
  await client.close();
}

const row = (name: string, value: string): void => console.log(`${name.padEnd(44)}${value.padStart(12)}`);
const mb = (bytes: number): string => `${(bytes / mib).toFixed(0)} MB`;

const folder = mkdtempSync(join(tmpdir(), 'probelet-memory-'));
const server = await forkServer('../healthy-server.ts', import.meta.url);
const product = await startProduct(
  ['--data-dir', join(folder, 'data'), '--port', '0'],
  productOptions(['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${folder}`]),
);
try {
  await until('the process is healthy', { withinMs: 60_000, pollMs: 50 }, () => isHealthy(product.url));
  const idle = await settled(product);
  await registerAll(product.url, server.port);
  const probing = await settled(product);
  for (const [name, { rss, anonymous }] of [
    ['without targets', idle],
    [`${targets} targets, each every ${values.period} s`, probing],
  ] as const) {
    row(`resident, ${name}`, mb(rss));
    row('  of which pages of files, mostly of Node', mb(rss - anonymous));
  }
  const heap = await snapshotOf(product, folder);
  row('live heap with the targets', mb(liveBytes(heap)));
  const { owners, held } = structuresOf(heap, heldTarget);
  row(`a target (median of ${owners})`, `${[...held.values()].reduce((sum, bytes) => sum + bytes, 0)} bytes`);
  let others = 0;
  for (const [path, bytes] of [...held].toSorted(([, a], [, b]) => b - a))
    if (bytes >= shownBytes) row(`  ${path}`, `${bytes}`);
    else others += bytes;
  row('  others', `${others}`);
} finally {
  await product.stop('SIGKILL');
  server.child.disconnect();
  rmSync(folder, { recursive: true, force: true });
}
