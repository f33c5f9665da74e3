/**
 * All targets of a shard go down at once under a holder with 0.15 of a core and the 50 sockets of a DynamoDB client. No
 * status-sync runs, so no result is acked and all stay due, and another holder takes over.
 */

import type { ChildProcess } from 'node:child_process';
import { unlimitedCapacity } from '../../../shared/core/shards/layout.ts';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { dynamodbStore } from '../../../shared/store/dynamodb/dynamodb.ts';
import { runKey } from '../../../shared/store/records/keys.ts';
import type { Store } from '../../../shared/store/store.ts';
import { answerOf, forkBeside, forkServer } from '../../support/children.ts';
import { currentLayout } from '../../support/current-layout.ts';
import { createTable, localClient, startDynamodbLocal } from '../../support/dynamodb-local.ts';
import { atMost, exactly, type Figure } from '../../support/figures.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { writeSettled } from '../../support/settled-targets.ts';
import { shardMessage } from '../../support/shard-messages.ts';
import type { MassOrders, MassReport } from './mass-prober.ts';
import type { Length, Step } from './step.ts';
import { throttle } from './throttle.ts';

/** Probing 4,000 targets every 10 s takes most of 0.15 of a core, so committing their failures takes minutes. */
const extents: Readonly<Record<Length, { readonly targets: number; readonly publishedMsMax: number }>> = {
  full: { targets: 4_000, publishedMsMax: 480_000 },
  slice: { targets: 1_000, publishedMsMax: 150_000 },
};
const periodSeconds = 10;
const tableName = 'mass';
const shard = '00';
const slotMs = 3_600_000;
/** Reads and writes of the test may take longer than those of a holder. */
const patientTimeoutMs = 60_000;
/** Every probe is back in its phase. */
const settleMs = 25_000;
/** The timekeeper looks at each result that is not acked every 10 s. */
const watchedMs = 25_000;
const lookMs = 200;
/** A run without a beat for so long ends. */
const beatGapMsMax = 12_000;

export const massStep: Step = {
  name: 'mass',
  alone: true,
  title: '4,000 targets (slice: 1,000) down at once, then a take-over, with 0.15 of a core',
  async run(length) {
    const local = await startDynamodbLocal();
    const { child: listener, port } = await forkServer('../../support/listener.ts', import.meta.url);
    try {
      const extent = extents[length];
      const store = await writtenTable(local.endpoint, port, extent.targets);
      return await measure({ store, endpoint: local.endpoint, down: () => listener.send('down'), ...extent });
    } finally {
      listener.disconnect();
      await local.stop();
    }
  },
};

async function writtenTable(endpoint: string, port: number, targets: number): Promise<Store> {
  const client = localClient(endpoint, patientTimeoutMs);
  await createTable(client, tableName);
  const store = dynamodbStore({ client, tableName, clock: systemClock, random: systemRandom });
  await writeSettled(store, { targets, port, periodSeconds });
  const ports = { store, clock: systemClock, random: systemRandom, log: recordingLog() };
  await currentLayout(ports, {
    capacity: unlimitedCapacity,
    mode: 'resident',
    desiredRelease: '',
    runOf: () => undefined,
  });
  return store;
}

type Measured = {
  readonly store: Store;
  readonly endpoint: string;
  readonly targets: number;
  readonly publishedMsMax: number;
  readonly down: () => void;
};

async function measure({ store, endpoint, targets, publishedMsMax, down }: Measured): Promise<readonly Figure[]> {
  const slotEndMs = Date.now() + slotMs;
  const message = shardMessage({ shard, slot: 1, slotEndMs, buckets: { from: 0, to: 256 } });
  const orders = { endpoint, tableName, message };
  const watch = async (name: string, holder: Holder, begin: () => void): Promise<readonly Figure[]> => {
    const throttled = throttle(holder.child);
    const beats = watchBeats(store);
    begin();
    await until(holder, ({ published }) => published === targets, publishedMsMax);
    await sleep(systemClock, watchedMs);
    const figures = figuresOf(name, targets, holder.report(), await beats.end());
    throttled.end();
    holder.child.kill('SIGKILL');
    return figures;
  };
  const first = await hold(orders);
  await until(first, ({ loaded }) => loaded, patientTimeoutMs);
  await sleep(systemClock, settleMs);
  const figures = await watch('the holder', first, down);
  return [...figures, ...(await watch('the next holder', await hold(orders), () => undefined))];
}

const figuresOf = (
  name: string,
  targets: number,
  { published, ended }: MassReport,
  gapMs: number,
): readonly Figure[] => [
  exactly(`targets that ${name} published`, published, targets),
  exactly(`runs of ${name} that ended`, ended ? 1 : 0, 0),
  atMost(`longest time between beats of ${name}`, gapMs / 1_000, { limit: beatGapMsMax / 1_000, unit: 's' }),
];

type Holder = { readonly child: ChildProcess; readonly report: () => MassReport };

async function hold(orders: MassOrders): Promise<Holder> {
  const child = forkBeside('mass-prober.ts', import.meta.url);
  await answerOf(child);
  let report: MassReport = { loaded: false, published: 0, ended: undefined };
  child.on('message', (told: MassReport) => {
    report = told;
  });
  child.send(orders);
  return { child, report: () => report };
}

async function until({ report }: Holder, holds: (report: MassReport) => boolean, forMs: number): Promise<void> {
  const endMs = performance.now() + forMs;
  while (!holds(report()) && !report().ended && performance.now() < endMs) await sleep(systemClock, lookMs);
}

/** The longest time for which RUN showed the same beat of the same run, as read from outside. */
function watchBeats(store: Store) {
  let isOver = false;
  let gapMs = 0;
  const watch = async () => {
    for (let seen = '', atMs = performance.now(); !isOver; await sleep(systemClock, lookMs)) {
      const run = await store.get(runKey(shard));
      const [beat, token] = [run?.beat, run?.token];
      const now = `${token} ${beat}`;
      // The time without a holder is not a gap between beats.
      if (seen.split(' ')[0] !== `${token}`) atMs = performance.now();
      gapMs = Math.max(gapMs, performance.now() - atMs);
      if (now !== seen) atMs = performance.now();
      seen = now;
    }
  };
  const watching = watch();
  return {
    async end() {
      isOver = true;
      await watching;
      return gapMs;
    },
  };
}
