/** What becomes of the targets of a process whose limit of descriptors is lowered to less than its probes hold. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { askApi, register } from '../support/api-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/wait.ts';
import { type Product, startProduct } from './product.ts';

const slowTargets = 120;
const commands = 12;
const slowCommand = ['sleep', '2'];
const periodSeconds = 5;
const timeoutSeconds = 4;
/** Each probe holds its socket for so long: 48 at each moment, beside commands with 15 descriptors. */
const answerMs = 2_000;
/** Descriptors that are left to the process beside those that it has without probes. */
const spare = 32;
/** Half a minute of late probes is an overload. */
const patience = { withinMs: 90_000, pollMs: 1_000 };

/** How many descriptors another process has. */
const openOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

const lowerLimit = (pid: number, descriptors: number) =>
  promisify(execFile)('prlimit', ['--pid', `${pid}`, `--nofile=${descriptors}`]);

/** A server that answers after so long, and counts the requests for each path. */
async function slowServer(t: TestContext, afterMs: number) {
  const asked = new Map<string, number>();
  const server = createServer(({ url = '' }, response) => {
    asked.set(url, (asked.get(url) ?? 0) + 1);
    setTimeout(() => response.end(), afterMs);
  });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  t.after(close);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { asked, close, port: (server.address() as AddressInfo).port };
}

/** So many targets with a probe of this kind. */
const named = (count: number, probeOf: (at: number) => object): readonly (readonly [string, object])[] =>
  Array.from({ length: count }, (_, at) => {
    const probe = probeOf(at);
    return [`${Object.keys(probe)[0]?.toLowerCase()}-${at}`, probe] as const;
  });

type Condition = { readonly type: string; readonly status: string; readonly reason?: string };

type Listed = {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly conditions: readonly Condition[] };
  }[];
};

type Health = {
  readonly status: string;
  readonly targets: number;
  readonly overloaded?: readonly { readonly reason: string; readonly socketsMax?: number }[];
};

const health = async ({ url }: Product) => (await askApi<Health>(url, 'GET', '/healthz')).body;

/** undefined: the process had no descriptor for the connection. */
const unlessClosed = <Answer>(answer: Promise<Answer>): Promise<Answer | undefined> => answer.catch(() => undefined);

/** The status of each target's condition Ready, by name. */
async function readiness({ url }: Product): Promise<ReadonlyMap<string, string | undefined>> {
  const { items } = (await askApi<Listed>(url, 'GET', '/v1/targets?limit=500')).body;
  const ready = ({ status }: Listed['items'][number]) => status.conditions.find(({ type }) => type === 'Ready')?.status;
  return new Map(items.map((one) => [one.metadata.name, ready(one)]));
}

/** A product that has these targets, all ready, and its log. */
async function productWith(t: TestContext, readinessProbes: ReadonlyMap<string, object>) {
  const allowed = join(temporaryFolder(t), 'allowed');
  writeFileSync(allowed, JSON.stringify(slowCommand));
  // Its log on standard error, which is read.
  const command = ['sh', '-c', 'exec "$0" "$@" >&2', process.execPath];
  const args = ['--port', '0', '--data-dir', ':memory:', '--allow-exec', allowed];
  const product = await startProduct(args, { command });
  t.after(() => product.stop());
  const log = { text: '' };
  product.child.stderr?.on('data', (text: string) => {
    log.text += text;
  });
  const { pid = 0 } = product.child;
  const idle = openOf(pid);
  for (const [name, probe] of readinessProbes) {
    const readinessProbe = { periodSeconds, timeoutSeconds, ...probe };
    await register(product.url, name, { host: '127.0.0.1', readinessProbe });
  }
  await until('all are ready', patience, async () => {
    const statuses = await readiness(product);
    return statuses.size === readinessProbes.size && [...statuses.values()].every((status) => status === 'True');
  });
  return { product, log, leave: (descriptors: number) => lowerLimit(pid, idle + descriptors) };
}

test('a process that runs out of descriptors probes late, and no target fails, turns unknown or is lost', async (t) => {
  const slow = await slowServer(t, answerMs);
  const goesDown = await slowServer(t, 0);
  const readinessProbes = new Map<string, object>([
    ['goes-down', { httpGet: { path: '/', port: goesDown.port } }],
    ...named(slowTargets, (at) => ({ httpGet: { path: `/${at}`, port: slow.port } })),
    ...named(commands, () => ({ exec: { command: slowCommand } })),
  ]);
  const { product, log, leave } = await productWith(t, readinessProbes);
  await leave(spare);
  await until('the limit is met', patience, () => log.text.includes('"code":"EMFILE"'));
  goesDown.close();
  slow.asked.clear();
  const seen = { up: new Set<unknown>(), down: new Set<unknown>() };
  const overload = await until('every target probed, and an overload', patience, async () => {
    const statuses = (await unlessClosed(readiness(product))) ?? [];
    for (const [name, status] of statuses) seen[name === 'goes-down' ? 'down' : 'up'].add(status);
    const counts = [...slow.asked.values()];
    const { overloaded = [] } = (await unlessClosed(health(product))) ?? {};
    return counts.length === slowTargets && Math.min(...counts) >= 3 && seen.down.has('False') && overloaded[0];
  });
  assert.deepEqual([[...seen.up], seen.down.has('Unknown')], [['True'], false]);
  assert.equal(overload.reason, 'Sockets');
  assert.ok((overload.socketsMax ?? Number.POSITIVE_INFINITY) <= spare, `${overload.socketsMax} descriptors`);
  // Which of the two meets the limit first is chance, and after it the budget of sockets is less.
  assert.match(log.text, /RLIMIT_NOFILE.*(socket|command) refused by the machine/);
  assert.doesNotMatch(log.text, /"level":"error"/);
  const { targets } = await until('its health', patience, () => unlessClosed(health(product)));
  assert.equal(targets, readinessProbes.size);
});
