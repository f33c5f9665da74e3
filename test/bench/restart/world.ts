/** A data folder with many settled targets, and processes of the product that are started on it one after the other. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { changeCounted } from '../../../shared/store/records/items.ts';
import { prefixEnd, targetAddress } from '../../../shared/store/records/keys.ts';
import { sqliteStore } from '../../../shared/store/sqlite/sqlite.ts';
import type { Item, Operation } from '../../../shared/store/store.ts';
import { isHealthy, startProduct } from '../../local/product.ts';
import { askApi, register, targetPath } from '../../support/api-client.ts';
import { answerOf, forkServer } from '../../support/children.ts';
import { until } from '../../support/wait.ts';
import type { Requested } from './server.ts';

export type RestartWorld = {
  readonly dataDir: string;
  readonly targets: number;
  readonly requested: (ask?: 'look' | 'reset') => Promise<Requested>;
  close(): void;
};

export async function startRestartWorld(targets: number, periodSeconds: number): Promise<RestartWorld> {
  const { child: server, port } = await forkServer('server.ts', import.meta.url);
  const dataDir = mkdtempSync(join(tmpdir(), 'probelet-restart-'));
  await settleFirst(dataDir, { httpGet: { path: `/${firstName}`, port }, periodSeconds });
  await multiply(dataDir, targets);
  const world: RestartWorld = {
    dataDir,
    targets,
    requested: async (ask = 'look') => (await answerOf(server, ask)) as Requested,
    close() {
      server.disconnect();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  await settleCopies(world);
  return world;
}

const firstName = 'target-0';
const settleMsMax = 240_000;

/** One target as the product itself leaves it: registered, probed, its status taken in. */
async function settleFirst(dataDir: string, readinessProbe: object): Promise<void> {
  const life = await startLife({ dataDir });
  await register(life.url, firstName, { host: '127.0.0.1', readinessProbe });
  await until('the first target is ready', { withinMs: settleMsMax, pollMs }, async () =>
    (await askApi(life.url, 'GET', targetPath(firstName))).text.includes('"ready":true'),
  );
  await sleep(systemClock, pollMs);
  await life.stop();
}

/**
 * The others are copies of its items under their own names, as thousands of registrations and first results take
 * minutes.
 */
async function multiply(dataDir: string, targets: number): Promise<void> {
  const store = sqliteStore({ path: join(dataDir, 'probelet.sqlite') });
  const first = targetAddress('default', firstName);
  const items = await store.query({ pk: first.pk, from: first.prefix, to: first.prefix + prefixEnd });
  const uid = String(items.find(({ kind }) => kind === 'TARGET')?.uid);
  for (let at = 1; at < targets; at += 1) {
    const address = targetAddress('default', `target-${at}`);
    const own = systemRandom.uuid();
    const copies = items.map((item): Operation => {
      const text = JSON.stringify(item).replaceAll(uid, own).replaceAll(firstName, `target-${at}`);
      const sk = item.sk.replace(first.prefix, address.prefix);
      return { kind: 'put', item: { ...(JSON.parse(text) as Item), pk: address.pk, sk } };
    });
    await store.write([...copies, changeCounted(address)], { token: systemRandom.uuid() });
  }
  store.close();
}

/**
 * The path of each copy is its own, so its PROBE item is of another spec until a process has committed that, and then
 * probed it.
 */
async function settleCopies(world: RestartWorld): Promise<void> {
  await world.requested('reset');
  const life = await startLife(world);
  const endMs = performance.now() + settleMsMax;
  while ((await world.requested()).paths < world.targets) {
    if (performance.now() > endMs) throw new Error('the copies are not all probed');
    await sleep(systemClock, pollMs);
  }
  await life.stop();
}

export type Life = {
  /** From the start of the process until `/healthz` says that it holds its shard. */
  readonly healthyMs: number;
  readonly url: string;
  stop(): Promise<void>;
};

const pollMs = 25;
const healthyMsMax = 60_000;

export async function startLife({ dataDir }: Pick<RestartWorld, 'dataDir'>): Promise<Life> {
  const startedAtMs = performance.now();
  const { url, stop } = await startProduct(['--data-dir', dataDir, '--port', '0']);
  while (!(await isHealthy(url))) {
    if (performance.now() - startedAtMs > healthyMsMax) throw new Error('the process does not become healthy');
    await sleep(systemClock, pollMs);
  }
  return { healthyMs: performance.now() - startedAtMs, url, stop };
}

/** Probes by result, from kubelet's own metric. */
export async function probesBy(result: 'successful' | 'failed' | 'unknown', { url }: Life): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('prober_probe_total{') && line.includes(`"${result}"`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
