/**
 * Worker processes of several releases on one table and one queue, and the control process that says which release
 * should run. What is observed are the workers' logs, `GET /v1/prober`, and the events that reach the bus.
 */
import assert from 'node:assert/strict';
import { CreateEventBusCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { ProberView } from '../../../shared/api/routes/prober.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { dynamodbStore } from '../../../shared/store/dynamodb/dynamodb.ts';
import type { Store } from '../../../shared/store/store.ts';
import { createTable, localClient } from '../../support/dynamodb-local.ts';
import { type Forwarded, startFaultProxy } from '../../support/fault-proxy.ts';
import { createQueue, ministackSqs } from '../../support/ministack.ts';
import { until } from '../../support/wait.ts';
import { eightShards, shardCount } from './layout-of-eight.ts';
import { type Control, type Services, sharedArgs, startControl, straightTo } from './pair.ts';
import { type Line, type Started, startProduct } from './processes.ts';

/** A run that has begun or ended, by the log of its worker. */
export type RunLine = { readonly worker: Started; readonly shard: string; readonly timeMs: number };
export type EndLine = RunLine & { readonly kind: string };

export type ReleaseStage = {
  readonly store: Store;
  readonly begun: readonly RunLine[];
  readonly ended: readonly EndLine[];
  /** When the bus took an event that this release was refused. */
  refusedAtMs(release: string): readonly number[];
  /** Starts a worker that may hold every shard. */
  work(release: string): Promise<Started>;
  /** Starts one that cannot start. @throws AssertionError if it does */
  workInVain(release: string): Promise<void>;
  /** Replaces the control process. The new one runs the schedule at once. */
  want(release: string): Promise<void>;
  view(): Promise<ProberView>;
  close(): Promise<void>;
};

const name = 'releases';
const region = 'us-east-1';
/** The first calls wait for a service that is starting. */
const requestTimeoutMs = 20_000;
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

export async function releaseStage(services: Services): Promise<ReleaseStage> {
  const client = localClient(services.dynamodb.endpoint, requestTimeoutMs);
  await createTable(client, name);
  const sqs = ministackSqs(services.sqs.endpoint);
  const queueUrl = await createQueue(sqs, name);
  const events = new EventBridgeClient({ endpoint: services.sqs.endpoint, region, credentials });
  await events.send(new CreateEventBusCommand({ Name: name }));
  const store = dynamodbStore({ client, tableName: name, clock: systemClock, random: systemRandom });
  // The schedule keeps what it finds: a merge would take it ten minutes.
  const layout = await eightShards({ store, queueUrl, services });
  const refused: { readonly release: string; readonly timeMs: number }[] = [];
  const bus = await startFaultProxy(services.sqs, (forwarded) => {
    for (const release of refusedIn(forwarded)) refused.push({ release, timeMs: Date.now() });
  });
  const begun: RunLine[] = [];
  const ended: EndLine[] = [];
  const note = (worker: Started, line: Line) => {
    const run = { worker, shard: String(line.shard), timeMs: line.timeMs };
    if (line.msg === 'shard held') begun.push(run);
    if (line.msg === 'shard left') ended.push({ ...run, kind: (line.end as { readonly kind: string }).kind });
  };
  const workers: Started[] = [];
  const workerArgs = (release: string) => [
    ...[...sharedArgs(name, queueUrl), ...straightTo(services), '--worker', '--release', release],
    ...['--concurrency', `${shardCount}`],
  ];
  const launch = (release: string, more: readonly string[] = []) =>
    startProduct({
      name: `${name}-${release}`,
      args: [...workerArgs(release), ...more],
      ready: /^probelet works for/,
    });
  let control: Control | undefined;
  return {
    ...{ store, begun, ended },
    refusedAtMs: (release) => refused.flatMap((each) => (each.release === release ? [each.timeMs] : [])),
    async work(release) {
      const worker = await launch(release);
      worker.onLine((line) => note(worker, line));
      workers.push(worker);
      return worker;
    },
    workInVain: (release) => assert.rejects(launch(release, ['--allow-exec', '/no/such/file']), /ended with 2/),
    async want(release) {
      await control?.stop();
      const events = ['--bus', name, '--endpoint', `eventbridge=${bus.endpoint}`];
      control = await startControl({ name, queueUrl }, services, ['--release', release, ...events]);
    },
    view: () => until('the API answers', { withinMs: 60_000, pollMs: 1_000 }, () => viewOf(control)),
    async close() {
      for (const worker of workers) worker.signal('SIGKILL');
      await control?.stop();
      layout.close();
      await bus.close();
      for (const each of [client, sqs, events]) each.destroy();
    },
  };
}

/** undefined: not now, as the table is slow on a busy machine. */
async function viewOf(control: Control | undefined): Promise<ProberView | undefined> {
  if (!control) throw new Error('there is no control process');
  const { status, body } = await control.api('GET', '/v1/prober');
  assert.ok(status === 200 || status === 503, `${status}: ${JSON.stringify(body)}`);
  return status === 200 ? (body as ProberView) : undefined;
}

type Put = { readonly Entries: readonly { readonly DetailType: string; readonly Detail: string }[] };

/** The releases that were published as refused, in events that the bus has taken. */
function refusedIn({ call, answer }: Forwarded): readonly string[] {
  if (call.operation !== 'PutEvents' || JSON.parse(answer.body).FailedEntryCount !== 0) return [];
  const { Entries } = JSON.parse(call.body) as Put;
  return Entries.flatMap(({ DetailType, Detail }) =>
    DetailType === 'Prober Release Refused' ? [String(JSON.parse(Detail).release)] : [],
  );
}
