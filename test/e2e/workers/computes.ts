/**
 * The prober function hands its shards over to tasks, a task to the spare one, and the tasks to the function, in the
 * order of a deployment that changes `compute`. Both are processes with the code and the variables of a deployment; the
 * layout asks for the release as the schedule would.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CreateEventBusCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { writeBundle } from '../../../functions/write-bundle.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { dynamodbStore } from '../../../shared/store/dynamodb/dynamodb.ts';
import type { Store } from '../../../shared/store/store.ts';
import { createTable, localClient } from '../../support/dynamodb-local.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { createQueue, ministackSqs } from '../../support/ministack.ts';
import type { Family, Role } from './cast.ts';
import { type Fences, fenceKeeper } from './fences.ts';
import { type EightShards, eightShards, shardNames } from './layout-of-eight.ts';
import { between, type CourseOptions, type Services } from './pair.ts';
import { type Started, startProduct } from './processes.ts';
import { registerAll } from './registered.ts';
import { allSettled, flapsUntrue, gapsOf, type Harm, harmTo, type Probes, probesOf } from './verdicts.ts';

export type ComputeChange = 'function to tasks' | 'task to the spare one' | 'tasks to function';

export type ComputesOutcome = Harm & {
  /** Of each change the longest time without an arrival of any probe. */
  readonly gaps: readonly { readonly change: ComputeChange; readonly gapMs: number }[];
  /** Targets that were not probed any more at the end of a change. */
  readonly lost: readonly string[];
  /** Flips that were not answered so, or not published. */
  readonly untrue: readonly string[];
  readonly unfenced: readonly string[];
  readonly fencedWrites: number;
  readonly probes: Probes;
};

export type ComputesOptions = CourseOptions & { readonly rounds: number };

type Compute = 'function' | 'task';

const bundles = { function: 'prober', task: 'task' } as const;
const functionProcess = new URL('./function-process.ts', import.meta.url).pathname;
const readyLines = { function: /^the function waits/, task: /"task started"/ } as const;

const name = 'computes';
const region = 'us-east-1';
const shards = 3;
/** As many as a deployment has: room for a hand-over and a rescue, and a spare task. */
const counts: { readonly [compute in Compute]: number } = { function: shards + 2, task: shards + 1 };
const families: readonly Family[] = ['healthy', 'edge-ready', 'edge-live', 'flapping'];
/** Longer than the course, so that no slot ends by itself. */
const slotMs = 3_600_000;
/** A run of another release is asked after 45 s, and within as long again. */
const releaseMsMax = 120_000;
/** Between the mapping that is enabled and the service that is deleted. */
const serviceMs = { min: 5_000, max: 20_000 };
const settleMs = 5_000;
/** Then a target counts as lost. */
const lostMs = 10_000;

export async function changeComputes({
  services,
  probed,
  random,
  say,
  rounds,
}: ComputesOptions): Promise<ComputesOutcome> {
  const deployment = await deployed(services);
  const { store, fences, layout } = deployment;
  try {
    const roles = await registerAll({ store, probed }, { shards, families });
    await layout.release('function');
    for (const shard of shardNames.slice(0, shards))
      await layout.send(shard, { slot: 1, slotEndMs: Date.now() + slotMs });
    await deployment.start('function');
    const settled = await allSettled({ store, roles }, probed);
    say(`computes: ${roles.length} targets in ${shards} shards have settled`);
    const sinceMs = Date.now();
    const gaps: ComputesOutcome['gaps'][number][] = [];
    const lost: string[] = [];
    const judge = async (change: ComputeChange, act: () => Promise<void>) => {
      const fromMs = Date.now();
      await act();
      await wait(settleMs);
      const { gapMs, silent } = silenceOf(roles, { probed, sinceMs: fromMs });
      gaps.push({ change, gapMs });
      lost.push(...silent.map((path) => `${path} after ${change}`));
      say(`computes: ${change}: ${gapMs} ms without an arrival`);
    };
    for (let round = 0; round < rounds; round += 1) {
      await judge('function to tasks', async () => {
        await deployment.start('task');
        deployment.signal('function', 'SIGUSR2');
        await layout.release('task');
        await deployment.ended('function', releaseMsMax);
      });
      // One of two holds a shard, since only one task is spare.
      for (let task = 0; task < 2; task += 1) await judge('task to the spare one', () => deployment.replaceTask());
      await judge('tasks to function', async () => {
        await deployment.start('function');
        await layout.release('function');
        await wait(between(random, serviceMs.min, serviceMs.max));
        deployment.signal('task', 'SIGTERM');
        await deployment.ended('task', settleMs + lostMs);
      });
    }
    const harm = await harmTo({ store, roles }, { settled, sinceMs });
    const untrue = await flapsUntrue({ store, roles }, probed);
    const unfenced = fences.violations();
    return {
      ...harm,
      gaps,
      lost,
      untrue,
      unfenced,
      fencedWrites: fences.taken(),
      probes: probesOf(roles, probed, sinceMs),
    };
  } finally {
    await deployment.close();
  }
}

type Heard = Pick<CourseOptions, 'probed'> & { readonly sinceMs: number };

/** The longest time without an arrival of a probe since then, until now, and the probes that no longer arrive. */
function silenceOf(roles: readonly Role[], { probed, sinceMs }: Heard) {
  const nowMs = Date.now();
  const paths = roles.flatMap((role) => role.paths);
  const heard = paths.map((path) => ({ path, arrivals: probed.arrivals(path) }));
  const sinceLast = heard.map(({ path, arrivals }) => ({ path, ms: nowMs - (arrivals.at(-1)?.timeMs ?? 0) }));
  const gaps = heard.flatMap(({ arrivals }) => gapsOf(arrivals, sinceMs));
  return {
    gapMs: Math.max(...gaps, ...sinceLast.map(({ ms }) => ms)),
    silent: sinceLast.filter(({ ms }) => ms > lostMs).map(({ path }) => path),
  };
}

type Deployment = {
  readonly store: Store;
  readonly fences: Fences;
  readonly layout: EightShards;
  start(compute: Compute): Promise<void>;
  signal(compute: Compute, signal: NodeJS.Signals): void;
  /** Until all its processes have ended in order. @throws when one has not, or not with 0 */
  ended(compute: Compute, withinMs: number): Promise<void>;
  /** As Spot takes the oldest task back, and ECS starts another one. */
  replaceTask(): Promise<void>;
  close(): Promise<void>;
};

async function deployed(services: Services): Promise<Deployment> {
  const client = localClient(services.dynamodb.endpoint);
  await createTable(client, name);
  const sqs = ministackSqs(services.sqs.endpoint);
  const queueUrl = await createQueue(sqs, name);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const events = new EventBridgeClient({ endpoint: services.sqs.endpoint, region, credentials });
  await events.send(new CreateEventBusCommand({ Name: name }));
  const store = dynamodbStore({ client, tableName: name, clock: systemClock, random: systemRandom });
  const layout = await eightShards({ store, queueUrl, services });
  const fences = fenceKeeper();
  const tables: { readonly [compute in Compute]: FaultProxy } = {
    function: await startFaultProxy(services.dynamodb, (forwarded) => fences.see('function', forwarded)),
    task: await startFaultProxy(services.dynamodb, (forwarded) => fences.see('task', forwarded)),
  };
  // What is deployed, which also starts faster.
  const folder = mkdtempSync(join(tmpdir(), 'probelet-computes-'));
  for (const bundle of Object.values(bundles)) writeBundle(bundle, join(folder, bundle));
  const bundleOf = (compute: Compute) => join(folder, bundles[compute], 'index.mjs');
  const running: { readonly [compute in Compute]: Started[] } = { function: [], task: [] };
  const launch = async (compute: Compute) => {
    const started = await startProduct({
      name: `${name}-${compute}`,
      ...(compute === 'function'
        ? { program: functionProcess, args: [bundleOf(compute)] }
        : { program: bundleOf(compute), args: [] }),
      ready: readyLines[compute],
      env: {
        AWS_REGION: region,
        AWS_ENDPOINT_URL: services.sqs.endpoint,
        AWS_ENDPOINT_URL_DYNAMODB: tables[compute].endpoint,
        PROBELET_TABLE: name,
        PROBELET_BUS: name,
        PROBELET_SHARD_QUEUE_URL: queueUrl,
        PROBELET_RELEASE: compute,
        PROBELET_STAGE: 'emulator',
        PROBELET_ALLOW_LOOPBACK: '1',
      },
    });
    running[compute].push(started);
  };
  const inOrder = async (process: Started, withinMs: number) => {
    const code = await Promise.race([process.ended, wait(withinMs, undefined, { ref: false })]);
    assert.equal(code, 0, `${process.name}: ${process.lastLines().join('\n')}`);
  };
  return {
    ...{ store, fences, layout },
    async start(compute) {
      // One by one: the machine has few cores, and those that hold the shards need them.
      for (let process = 0; process < counts[compute]; process += 1) await launch(compute);
    },
    signal(compute, signal) {
      for (const process of running[compute]) process.signal(signal);
    },
    async ended(compute, withinMs) {
      await Promise.all(running[compute].splice(0).map((process) => inOrder(process, withinMs)));
    },
    async replaceTask() {
      for (const process of running.task.splice(0, 1)) {
        process.signal('SIGTERM');
        await inOrder(process, settleMs);
      }
      await launch('task');
    },
    async close() {
      for (const process of Object.values(running).flat()) process.signal('SIGKILL');
      layout.close();
      rmSync(folder, { recursive: true });
      await Promise.all(Object.values(tables).map((proxy) => proxy.close()));
      for (const each of [client, sqs, events]) each.destroy();
    },
  };
}
