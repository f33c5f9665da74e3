/**
 * `npm run bench:registration`: how long a fresh `npm start` takes to register many targets, by each route: a target a
 * line, lists of 100, four at once, and a request a target, eight at once. Prints the seconds until the last answer,
 * targets a second, the CPU that the process has used meanwhile, which hardly depends on what else the machine does,
 * and its memory. `-- --targets 10000 --routes lines,lists,single`; `--probed`: each is probed every 10 s meanwhile.
 * Exits with 1 unless each target was registered.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { probeletClient } from '../../functions/client/probelet-client.ts';
import { type Product, startProduct } from '../local/product.ts';
import { forkServer } from '../support/children.ts';
import { inLanes } from '../support/lanes.ts';
import { memoryOf, mib } from '../support/process-memory.ts';
import { cpuMsOf, productOptions } from './world.ts';

const listManifestsMax = 100;
const listsAtOnce = 4;
const requestsAtOnce = 8;
/** A machine that does something else beside may need long. */
const requestMsMax = 600_000;

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: '10000' },
    routes: { type: 'string', default: 'lines,lists,single' },
    probed: { type: 'boolean', default: false },
  },
});

const namespace = 'default';
const nameOf = (at: number) => `target-${at}`;

/** Probed only after hours, so that the prober stays out of the figures, unless it shall be in them. */
const manifestOf = (at: number, port: number) => ({
  metadata: { namespace, name: nameOf(at), labels: { team: `team-${at % 10}` } },
  spec: {
    host: '127.0.0.1',
    readinessProbe: { httpGet: { port, path: `/${at}` }, ...(!values.probed && { initialDelaySeconds: 36_000 }) },
  },
});
type Manifest = ReturnType<typeof manifestOf>;

type Client = ReturnType<typeof probeletClient>;

/** How many were registered. */
const routes = {
  lines: async (client: Client, manifests: readonly Manifest[]) => {
    let created = 0;
    // What the process has no time for within 20 s is sent again.
    for (let left = manifests; left.length > 0; ) {
      const lines = (await client.applyLines({ manifests: left })) ?? [];
      created += lines.filter(({ status }) => status === 201).length;
      const next = left.filter((_, at) => lines[at]?.status === 503);
      if (next.length === left.length) return created;
      left = next;
    }
    return created;
  },
  lists: async (client: Client, manifests: readonly Manifest[]) => {
    let created = 0;
    const lists = Array.from({ length: Math.ceil(manifests.length / listManifestsMax) }, (_, at) =>
      manifests.slice(at * listManifestsMax, (at + 1) * listManifestsMax),
    );
    await inLanes(lists, listsAtOnce, async (list) => {
      const items = await client.apply({ namespace, manifests: list, dryRun: false });
      created += items.filter(({ status }) => status === 201).length;
    });
    return created;
  },
  single: async (client: Client, manifests: readonly Manifest[]) => {
    let created = 0;
    await inLanes(manifests, requestsAtOnce, async (manifest) => {
      const registered = await client.register(manifest.metadata, manifest);
      created += Number(registered.created);
    });
    return created;
  },
} as const;
type RouteName = keyof typeof routes;
const isRouteName = (name: string): name is RouteName => Object.hasOwn(routes, name);

type Measured = { readonly ms: number; readonly cpuMs: number; readonly mb: number; readonly created: number };

async function measured(route: RouteName, manifests: readonly Manifest[]): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-registration-'));
  let product: Product | undefined;
  try {
    product = await startProduct(['--port', '0', '--data-dir', join(folder, 'data')], productOptions());
    const client = probeletClient({ url: product.url, timeoutMs: requestMsMax });
    // The first request loads code.
    await client.register({ namespace, name: 'first' }, { spec: { host: 'first', containers: [{ name: 'first' }] } });
    const [beganMs, cpuMs] = [performance.now(), cpuMsOf(product.child)];
    const created = await routes[route](client, manifests);
    const { highest } = memoryOf(product.child);
    const one = { ms: performance.now() - beganMs, cpuMs: cpuMsOf(product.child) - cpuMs, mb: highest / mib, created };
    await client.close();
    return one;
  } finally {
    await product?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const count = Number(values.targets);
const { child: server, port } = await forkServer('healthy-server.ts', import.meta.url);
const manifests = Array.from({ length: count }, (_, at) => manifestOf(at, port));
const row = (cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`);
row(['route', 'targets', 'seconds', 'targets/s', 'CPU s', 'MB']);
row(Array.from({ length: 6 }, () => '---'));
let isWhole = true;
for (const route of values.routes.split(',').filter(isRouteName)) {
  const { ms, cpuMs, mb, created } = await measured(route, manifests);
  isWhole &&= created === count;
  const [seconds, cpuSeconds] = [ms / 1_000, cpuMs / 1_000].map((value) => value.toFixed(1));
  row([route, `${created}`, `${seconds}`, (created / (ms / 1_000)).toFixed(0), `${cpuSeconds}`, mb.toFixed(0)]);
}
server.disconnect();
process.exitCode = isWhole ? 0 : 1;
