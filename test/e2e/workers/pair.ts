/** Two workers on their own table and queue, each behind its own proxies, and a control process. */
import { systemClock } from '../../../shared/lib/clock.ts';
import { type Random, systemRandom } from '../../../shared/lib/random.ts';
import { dynamodbStore } from '../../../shared/store/dynamodb/dynamodb.ts';
import type { Store } from '../../../shared/store/store.ts';
import { askApi } from '../../support/api-client.ts';
import { createTable, type DynamodbLocal, localClient } from '../../support/dynamodb-local.ts';
import { type FaultProxy, passAll, startFaultProxy } from '../../support/fault-proxy.ts';
import { createQueue, type Ministack, ministackSqs } from '../../support/ministack.ts';
import type { Api } from '../api.ts';
import { type Fences, fenceKeeper } from './fences.ts';
import type { Probed } from './probed.ts';
import { type Line, type Started, startProduct } from './processes.ts';
import type { Weather } from './weather.ts';

export type Services = { readonly dynamodb: DynamodbLocal; readonly sqs: Ministack };

export type Held = {
  readonly worker: Worker;
  readonly shard: string;
  readonly token: number;
  readonly timeMs: number;
};

export type Left = {
  readonly worker: Worker;
  readonly shard: string;
  readonly kind: string;
  /** Of a doubt. */
  readonly reason: string | undefined;
  readonly timeMs: number;
};

export type Dropped = { readonly shard: string; readonly reason: string; readonly timeMs: number };

/** What the log says of a prober's own health. */
export type SelfHealthLine = { readonly shard: string; readonly kind: string; readonly timeMs: number };

/** A worker whose process may end and be started again; its proxies stay. */
export type Worker = {
  readonly name: string;
  /** When the queue gave it each of its messages. */
  readonly receivedAtMs: readonly number[];
  process(): Started;
  start(): Promise<void>;
};

export type Pair = {
  readonly name: string;
  readonly queueUrl: string;
  readonly store: Store;
  readonly fences: Fences;
  readonly workers: readonly [Worker, Worker];
  /** Each start and each end of a hold, in order. */
  readonly holds: readonly Held[];
  readonly lefts: readonly Left[];
  readonly selfHealth: readonly SelfHealthLine[];
  /** Messages that were not worth a run. */
  readonly drops: readonly Dropped[];
  other(worker: Worker): Worker;
  /** What happens to calls from now on. */
  play(weather: Weather | undefined): void;
  close(): Promise<void>;
};

/** What every course of faults with a pair needs. */
export type CourseOptions = {
  readonly services: Services;
  readonly probed: Probed;
  readonly random: Random;
  readonly say: (line: string) => void;
};

export type PairOptions = { readonly services: Services; readonly name: string; readonly concurrency: number };

const requestTimeoutMs = 20_000;

export async function startPair({ services, name, concurrency }: PairOptions): Promise<Pair> {
  const client = localClient(services.dynamodb.endpoint, requestTimeoutMs);
  await createTable(client, name);
  const sqs = ministackSqs(services.sqs.endpoint);
  const queueUrl = await createQueue(sqs, name);
  const fences = fenceKeeper();
  const holds: Held[] = [];
  const lefts: Left[] = [];
  const selfHealth: SelfHealthLine[] = [];
  const drops: Dropped[] = [];
  const note = (worker: Worker, line: Line) => {
    const shard = String(line.shard);
    if (line.msg === 'self-health changed') {
      const { kind } = line.health as { readonly kind: string };
      selfHealth.push({ shard, kind, timeMs: line.timeMs });
    }
    if (line.msg === 'message dropped') drops.push({ shard, reason: String(line.reason), timeMs: line.timeMs });
    if (line.msg === 'shard held') holds.push({ worker, shard, token: Number(line.token), timeMs: line.timeMs });
    if (line.msg === 'shard left') {
      const { kind, reason } = line.end as { readonly kind: string; readonly reason?: string };
      lefts.push({ worker, shard, kind, reason, timeMs: line.timeMs });
    }
  };
  const proxies: { readonly service: 'dynamodb' | 'sqs'; readonly proxy: FaultProxy }[] = [];
  const place = async (letter: string): Promise<Worker> => {
    const worker = `${name}-${letter}`;
    const receivedAtMs: number[] = [];
    const table = await startFaultProxy(services.dynamodb, (forwarded) => fences.see(worker, forwarded));
    const queue = await startFaultProxy(services.sqs, ({ call, answer }) => {
      if (call.operation === 'ReceiveMessage' && answer.body.includes('ReceiptHandle')) receivedAtMs.push(Date.now());
    });
    proxies.push({ service: 'dynamodb', proxy: table }, { service: 'sqs', proxy: queue });
    const endpoints = ['--endpoint', `dynamodb=${table.endpoint}`, '--endpoint', `sqs=${queue.endpoint}`];
    const args = [...sharedArgs(name, queueUrl), ...endpoints, '--worker', '--concurrency', String(concurrency)];
    let started: Started | undefined;
    const own: Worker = {
      name: worker,
      receivedAtMs,
      process() {
        if (!started) throw new Error(`${worker} has not been started`);
        return started;
      },
      async start() {
        const onLine = (line: Line) => note(own, line);
        started = await startProduct({ name: worker, args, ready: /^probelet works for/, onLine });
      },
    };
    return own;
  };
  const workers = [await place('a'), await place('b')] as const;
  await Promise.all(workers.map((worker) => worker.start()));
  return {
    name,
    queueUrl,
    store: dynamodbStore({ client, tableName: name, clock: systemClock, random: systemRandom }),
    fences,
    workers,
    holds,
    lefts,
    selfHealth,
    drops,
    other: (worker) => (worker === workers[0] ? workers[1] : workers[0]),
    play(weather) {
      for (const { service, proxy } of proxies) proxy.play(weather?.script(service) ?? passAll);
    },
    async close() {
      for (const worker of workers) {
        worker.process().signal('SIGKILL');
        await worker.process().ended;
      }
      await Promise.all(proxies.map(({ proxy }) => proxy.close()));
      client.destroy();
      sqs.destroy();
    },
  };
}

export const sharedArgs = (table: string, queueUrl: string): readonly string[] => [
  ...['--table', table, '--queue-url', queueUrl],
  ...['--region', 'us-east-1'],
];

export type Control = { readonly api: Api; stop(): Promise<number | null> };

export const straightTo = ({ sqs, dynamodb }: Services): readonly string[] => [
  ...['--endpoint', sqs.endpoint],
  ...['--endpoint', `dynamodb=${dynamodb.endpoint}`],
];

/** Straight to the services. `more`: further options. */
export async function startControl(
  { name, queueUrl }: Pick<Pair, 'name' | 'queueUrl'>,
  services: Services,
  more: readonly string[] = [],
): Promise<Control> {
  const args = [...sharedArgs(name, queueUrl), ...straightTo(services), '--control', '--port', '0', ...more];
  const started = await startProduct({ name: `${name}-control`, args, ready: /listens on (\S+?),/ });
  const base = started.said[1] ?? '';
  return {
    api: (...request) => askApi(base, ...request),
    async stop() {
      started.signal('SIGTERM');
      return started.ended;
    },
  };
}

export const between = (random: Random, low: number, high: number): number => low + random.next() * (high - low);
