/**
 * `npm run bench:function-memory -- --targets N --memory MB`: the memory of the prober function as it is bundled, on an
 * emulator of AWS, with the flags that Lambda's runtime gives Node, while it holds N targets for some minutes. Every
 * server is healthy, and one failure counts, so a result that was ever other than success is the function's doing.
 * `--period` in seconds, `--seconds` for how long; `--invocation`: for how long Lambda lets one run, at each end of
 * which all targets are loaded again. Exits with 1 unless all results are successes and the memory was enough, or if
 * the targets do not fit in one shard.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import type { HttpAnswer } from '../../functions/api/http-event.ts';
import { bundling, entryFile } from '../../functions/bundling.ts';
import { systemClock as clock, sleep } from '../../shared/lib/clock.ts';
import { decodeLayout } from '../../shared/store/records/items.ts';
import { layoutKey } from '../../shared/store/records/keys.ts';
import { deployed } from '../functions/deployment.ts';
import { functionThreads } from '../functions/function-threads.ts';
import { httpEvent } from '../functions/http-events.ts';
import { answerOf, forkServer } from '../support/children.ts';
import { inLanes } from '../support/lanes.ts';
import { memoryOf, mib } from '../support/process-memory.ts';

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: '100' },
    memory: { type: 'string', default: '192' },
    period: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '200' },
    invocation: { type: 'string', default: '900' },
  },
});
const [targets, memoryMb, seconds] = [values.targets, values.memory, values.seconds].map(Number) as [
  number,
  number,
  number,
];

const periodSeconds = Number(values.period);
const lanes = 8;
const pageMax = 500;
const scheduleIntervalMs = 60_000;
const invocationMs = Number(values.invocation) * 1_000;
/** Of Lambda's longest invocation. */
const visibilitySeconds = 960;
/** The last invocation continues for so long, for reading the results. */
const readMsMax = 120_000;
let invocations = 0;

/** A tenth of the memory is for new objects. Source: /var/runtime/bootstrap of Lambda's Node runtimes. */
const newMb = Math.floor(memoryMb / 10);
const flags = [
  '--expose-gc',
  `--max-semi-space-size=${Math.floor(newMb / 2)}`,
  `--max-old-space-size=${memoryMb - newMb}`,
];

const megabytes = (bytes: number): number => Math.round(bytes / mib);

const deployment = await deployed({ capacityMb: memoryMb });
const functions = functionThreads(process.env as Record<string, string>);
const server = await forkServer('./healthy-server.ts', import.meta.url);
try {
  await registerAll();
  await requireOneShard();
  const outfile = await bundled();
  const child = fork(join(import.meta.dirname, 'function-process.ts'), [outfile], { execArgv: flags, silent: true });
  await answerOf(child);
  const beganMs = performance.now();
  const around = new AbortController();
  const [scheduling, syncing] = [schedule(around.signal), sync(around.signal)];
  const holding = hold(child, beganMs + seconds * 1_000, around.signal);
  await Promise.race([sleep(clock, seconds * 1_000), holding]);
  const probes = await listed();
  around.abort();
  await Promise.all([scheduling, syncing]);
  const ok = probes.filter(isGood).length;
  const { highest, anonymous } = memoryOf(child);
  for (const line of othersOf(probes)) console.log(line);
  console.log(
    `${targets} targets at ${periodSeconds} s in a function of ${memoryMb} MB: ${megabytes(highest)} MB resident at most, ` +
      `${megabytes(anonymous)} MB of them anonymous, in ${seconds} s and ${invocations} invocations; ` +
      `${ok} of ${targets} probes had no result but success`,
  );
  process.exitCode = ok === targets && highest <= memoryMb * mib ? 0 : 1;
  child.kill();
} finally {
  await functions.stop();
  server.child.disconnect();
  await deployment.stop();
}

/** One invocation after another in one process, as Lambda calls an execution environment. @throws if it ends */
async function hold(child: ChildProcess, endsAtMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const event = await deployment.shardEvent(visibilitySeconds);
    if (event.Records.length === 0) continue;
    invocations += 1;
    // Beyond the end, so that the results are read while they are held.
    const forMs = Math.min(invocationMs, endsAtMs + readMsMax - performance.now());
    await deployment.shardServed(event, await answerOf(child, { event, forMs }));
  }
}

/** A process holds one shard, so the targets of a second one would never be probed here. */
async function requireOneShard(): Promise<void> {
  await functions.invoke('schedule', {});
  const decoded = decodeLayout((await deployment.store.get(layoutKey)) ?? { ...layoutKey });
  if (decoded.kind === 'poison') throw new Error(`LAYOUT: ${decoded.detail}`);
  const { length } = decoded.record.shards;
  if (length > 1) throw new Error(`so many targets are ${length} shards: measure fewer, or with more memory`);
}

/** As EventBridge Scheduler does. */
async function schedule(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await functions.invoke('schedule', {});
    await sleep(clock, scheduleIntervalMs, signal);
  }
}

/** As the mapping of its queue does. */
async function sync(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const event = await deployment.syncEvent();
    if (event.Records.length > 0) await deployment.syncServed(event, await functions.invoke('status-sync', event));
  }
}

async function registerAll(): Promise<void> {
  const readinessProbe = { httpGet: { path: '/', port: server.port }, periodSeconds, failureThreshold: 1 };
  const body = { spec: { host: '127.0.0.1', readinessProbe } };
  const names = Array.from({ length: targets }, (_, at) => `memory-${at}`);
  await inLanes(names, lanes, async (name) => {
    const event = httpEvent('PUT', `/v1/namespaces/default/targets/${name}`, { body });
    const answer = await functions.invoke('api', event);
    if ((answer as HttpAnswer).statusCode !== 201) throw new Error(`${name}: ${JSON.stringify(answer)}`);
  });
}

function isGood({ result, version }: Listed): boolean {
  return result === 'success' && version === 1;
}

type Listed = { readonly result: string; readonly reason?: string; readonly version: number };

/** What the others are, and how many of each kind. */
function othersOf(probes: readonly Listed[]): readonly string[] {
  const others = probes.filter((probe) => !isGood(probe));
  const kinds = Map.groupBy(others, ({ result, reason, version }) => `${result} (${reason}), version ${version}`);
  return [...kinds].map(([kind, { length }]) => `${length} probes: ${kind}`);
}

async function listed(): Promise<readonly Listed[]> {
  const probes: Listed[] = [];
  for (let token: string | undefined = ''; token !== undefined; ) {
    const query: string = `limit=${pageMax}${token && `&continue=${encodeURIComponent(token)}`}`;
    const answer = (await functions.invoke('api', httpEvent('GET', '/v1/targets', { query }))) as HttpAnswer;
    const page = JSON.parse(answer.body ?? '') as Page;
    probes.push(...page.items.flatMap(({ status }) => status.probes));
    token = page.metadata.continue;
  }
  return probes;
}

type Page = {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly { readonly status: { readonly probes: readonly Listed[] } }[];
};

async function bundled(): Promise<string> {
  const { banner, ...options } = bundling;
  const outfile = join(import.meta.dirname, '../../node_modules/.cache/probelet/function-memory.mjs');
  await build({ ...options, entryPoints: [entryFile('prober')], outfile, banner: { js: banner }, logLevel: 'warning' });
  return outfile;
}
