/**
 * One mass event: the product's pieces in this process hold a shard whose targets are ready and real, then all of them
 * refuse connections at once.
 */
import { localProbing } from '../../../functions/local/process/probing.ts';
import { hostShard, type ShardHost } from '../../../functions/local/process/shard-host.ts';
import { subscribeStatusSync } from '../../../functions/local/process/status-sync.ts';
import { inProcessBus } from '../../../shared/bus/in-process.ts';
import { bucketCount } from '../../../shared/core/shards/slots.ts';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { bucketName, bucketPk } from '../../../shared/store/records/keys.ts';
import type { Store } from '../../../shared/store/store.ts';
import { assembleTargets } from '../../../shared/table/targets.ts';
import { forkServer } from '../../support/children.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { writeSettled } from '../../support/settled-targets.ts';
import type { BenchStore } from './bench-store.ts';
import { type Witness, witness } from './witness.ts';

/** Kubernetes' defaults: a failure counts after three in a row. */
const periodSeconds = 10;
/** What a take-over brings with it is over: every probe is back in its phase, and two beats have come. */
const calmMs = 30_000;
const eventMsMax = 900_000;
const rightMsMax = 300_000;
const lookMs = 500;

export type MassEvent = {
  /** From the moment when the targets go down until the first, half and all of them are published. */
  readonly firstMs: number | undefined;
  readonly halfMs: number | undefined;
  readonly allMs: number | undefined;
  readonly commitsInBestSecond: number;
  /** Targets whose status says in the end that they are not ready, and when the last one did. */
  readonly right: number;
  readonly rightMs: number | undefined;
  /** Most probes at once whose result was too old to be shown. */
  readonly unknown: number;
  readonly beatGapMs: number;
  /**
   * How often the prober doubted itself, as on a machine that has too little time for it; failures do not count
   * meanwhile.
   */
  readonly doubts: number;
  /** Runs that ended before their slot did, each with another one after it. */
  readonly handOvers: number;
};

export async function measureMassEvent(bench: BenchStore, targets: number): Promise<MassEvent> {
  const { child: listener, port } = await forkServer('../../support/listener.ts', import.meta.url);
  await writeSettled(bench.patient, { targets, port, periodSeconds });
  const seen = witness();
  const held = hold(bench, seen);
  try {
    await held.shard.loaded;
    await sleep(systemClock, calmMs);
    seen.begin();
    bench.limited?.begin();
    listener.send('down');
    const downAtMs = performance.now();
    const unknown = watchUnknown(held.shard);
    await until(() => seen.published.length === targets, eventMsMax);
    await until(() => seen.notReady.size === targets, rightMsMax);
    const rightMs = performance.now() - downAtMs;
    const beatGapMs = seen.beatGapMs();
    const right = await notReady(bench.patient);
    return {
      ...publishedAfter(seen, targets, downAtMs),
      right,
      rightMs: right === targets ? rightMs : undefined,
      commitsInBestSecond: seen.commitsInBestSecond(),
      unknown: unknown.end(),
      beatGapMs,
      doubts: seen.doubts(),
      handOvers: held.handOvers(),
    };
  } finally {
    await held.stop();
    listener.disconnect();
  }
}

function hold(bench: BenchStore, seen: Witness) {
  const [clock, random, log] = [systemClock, systemRandom, recordingLog()];
  const [store, fencedStore] = [bench.store, bench.fencedStore].map(seen.wrapStore) as [Store, Store];
  const bus = seen.wrapBus(inProcessBus({ clock, random, log }));
  const probing = localProbing({ clock, log });
  const { canaries, forRun } = probing;
  const metrics = { observe: () => undefined, remove: () => undefined };
  subscribeStatusSync(bus, { store, bus, clock, random, log });
  const shard = hostShard({ clock, random, log, store, fencedStore, bus, canaries, forRun, metrics });
  const stop = async () => {
    await shard.stop();
    await probing.close();
    await bus.settled();
  };
  const handOvers = () => log.lines.filter(({ message }) => message === 'run ended').length;
  return { shard, handOvers, stop };
}

function watchUnknown(shard: ShardHost) {
  let most = 0;
  const look = () => {
    const view = shard.lastView();
    if (view) most = Math.max(most, view.beat.late);
  };
  const timer = setInterval(look, lookMs);
  return {
    end() {
      clearInterval(timer);
      return most;
    },
  };
}

async function until(holds: () => boolean, msMax: number): Promise<void> {
  for (const endMs = performance.now() + msMax; !holds() && performance.now() < endMs; ) await sleep(systemClock, 50);
}

function publishedAfter({ published }: Witness, targets: number, downAtMs: number) {
  const after = (count: number) => {
    const atMs = published[count - 1];
    return atMs === undefined ? undefined : atMs - downAtMs;
  };
  return { firstMs: after(1), halfMs: after(Math.ceil(targets / 2)), allMs: after(targets) };
}

/** What is stored, whatever was published of it. */
async function notReady(store: Store): Promise<number> {
  let count = 0;
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    const { targets } = assembleTargets(await store.query({ pk: bucketPk(bucketName(bucket)) }));
    const isRight = ({ status }: (typeof targets)[number]) =>
      status.status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'False');
    count += targets.filter(isRight).length;
  }
  return count;
}
