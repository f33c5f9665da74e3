/** A worker that holds one shard after the other, none of which comes back to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startWorker } from '../../functions/local/process/worker.ts';
import { apiApp } from '../../shared/api/app.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import { bucketCount, slotAt } from '../../shared/core/shards/slots.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { encodeLayout } from '../../shared/store/records/items.ts';
import { bucketName, bucketOf, targetHash } from '../../shared/store/records/keys.ts';
import { register } from '../support/api-client.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { shardMessage } from '../support/shard-messages.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { servicesInMemory } from './services.ts';

const handOvers = 200;
const targetsPerShard = 10;
/** Of a shard's hold, and until its next one. */
const heldMs = 12_000;
const pauseMs = 15_000;
/** A shard that was left may come back for so long: it is remembered. */
const rememberedShards = Math.ceil(180_000 / pauseMs) + 1;
/** Each worker has a series for each of three results, and one of durations, whose lines carry no result. */
const seriesPerTarget = 3;
const heapGrowthMax = 3 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Names of targets that lie in the bucket. */
function namesIn(bucket: string): readonly string[] {
  const names: string[] = [];
  for (let number = 0; names.length < targetsPerShard; number += 1) {
    const name = `t${bucket}-${number}`;
    if (bucketOf(targetHash('default', name)) === bucket) names.push(name);
  }
  return names;
}

function workerWorld() {
  const clock = virtualClock();
  const random = seededRandom(1);
  const log = { info: () => undefined, warn: () => undefined, error: recordingLog().error };
  const services = servicesInMemory(clock);
  const { store, queue } = services;
  const bus = inProcessBus({ clock, random, log });
  // What may not be dialed is a prober error at once: no socket, and a series all the same.
  const network = { policy: dialPolicy({ mode: 'aws' }), dnsServers: [] };
  const options = { release: 'r1', concurrency: 4, canaries: [] };
  const worker = startWorker(options, { clock, random, log, services, network });
  const app = apiApp({ store, bus, clock, random, log, health: () => ({ ok: true, quarantined: [] }) });
  const readinessProbe = { tcpSocket: { port: 80 }, periodSeconds: 5 };
  const spec = { host: '127.0.0.1', readinessProbe };
  return {
    clock,
    worker,
    store,
    async registerAll() {
      const shards = Array.from({ length: bucketCount }, (_, from) => ({
        shard: bucketName(from),
        ...{ from, to: from + 1 },
        ...{ generation: 1, mode: 'resident' as const, sinceMs: 0 },
      }));
      const layout = encodeLayout({ version: 1, token: 0, desiredRelease: '', announced: 1, shards });
      await store.write([{ kind: 'put', item: layout }], { token: 'layout' });
      for (const { shard } of shards.slice(0, handOvers))
        await Promise.all(namesIn(shard).map((name) => register(app, name, spec)));
    },
    /** The worker holds this shard once, and another process its next slots. */
    async holdOnce(from: number) {
      const sentAtMs = clock.nowMs();
      const shard = bucketName(from);
      const { slot } = slotAt({ from, mode: 'resident' }, sentAtMs);
      const buckets = { from, to: from + 1 };
      const message = shardMessage({ shard, slot, sentAtMs, slotEndMs: sentAtMs + heldMs, buckets });
      await queue.send(message, { group: shard, deduplicationId: shard });
      await clock.advance(pauseMs);
    },
    async series() {
      const response = await worker.fetch(new Request('http://probelet.test/metrics'));
      return (await response.text()).split('\n').filter((line) => line.startsWith('prober_probe_total{')).length;
    },
    heapBytes() {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    },
  };
}

test(`a worker that has held ${handOvers} shards keeps neither their targets nor their series`, async () => {
  const { worker, clock, registerAll, holdOnce, series, heapBytes } = workerWorld();
  await registerAll();
  const seriesMax = rememberedShards * targetsPerShard * seriesPerTarget;
  let settledBytes = 0;
  for (let shard = 0; shard < handOvers; shard += 1) {
    await holdOnce(shard);
    if (shard === handOvers / 4) {
      settledBytes = heapBytes();
      assert.ok((await series()) > 0, 'shards were held');
    }
  }
  const count = await series();
  assert.ok(count <= seriesMax, `${count} series of at most ${seriesMax}`);
  const grownBytes = heapBytes() - settledBytes;
  assert.ok(grownBytes < heapGrowthMax, `the heap grew by ${grownBytes} bytes`);
  await clock.advance(240_000);
  assert.equal(await series(), 0);
  await clock.runUntil(worker.stop());
});
