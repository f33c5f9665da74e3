/** `npm start -- --worker`: holds the shards that it receives, up to its limit, and hands them over when it stops. */

import { bearerToken } from '../../../shared/api/http/bearer-token.ts';
import { jsonResponse, problem, problemResponse } from '../../../shared/api/http/problem.ts';
import type { Health } from '../../../shared/api/ports/deps.ts';
import { healthView } from '../../../shared/api/routes/operations.ts';
import { type Host, hostShards } from '../../../shared/holder/host.ts';
import { newSocketBudget } from '../../../shared/holder/probing/sockets.ts';
import { runReceived } from '../../../shared/holder/receipt.ts';
import { forgetOld, type RunOptions, type RunView, type ShardMemory } from '../../../shared/holder/shard-run.ts';
import { type Clock, sleep } from '../../../shared/lib/clock.ts';
import type { Log } from '../../../shared/lib/log.ts';
import { processMetrics } from '../metrics/process-metrics.ts';
import { restartTally } from '../metrics/restart-tally.ts';
import type { WorkerOptions } from '../options/options.ts';
import type { ServedPorts } from './aws-services.ts';
import type { DescriptorShares } from './descriptors.ts';
import { heldShards } from './held-shards.ts';
import { localProbing, type ProbingOptions } from './probing.ts';
import { syncedBus } from './status-sync.ts';

export type WorkerPorts = ServedPorts &
  Pick<ProbingOptions, 'network' | 'wayOut' | 'attribution'> & {
    /** If absent, descriptors are not divided. */
    readonly shares?: DescriptorShares;
  };

export type Worker = {
  /** Serves `/healthz` and `/metrics`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Resolves when every shard has been handed over. */
  stop(): Promise<void>;
};

export function startWorker(options: Omit<WorkerOptions, 'aws'>, ports: WorkerPorts): Worker {
  const { clock, random, log, services } = ports;
  const { store, fencedStore, queue } = services;
  const { release, concurrency, allowExec, secretHosts, tlsSessionResumption } = options;
  const requests = restartTally();
  const bus = syncedBus({ clock, random, log, store }, requests.counted(services.bus));
  const probing = localProbing({ ...ports, allowExec, secretHosts, tlsSessionResumption });
  const shards = heldShards();
  const { views } = shards;
  const held = (): readonly RunView[] => [...views.values()].map((view) => view());
  const metrics = processMetrics({
    clock,
    quarantinedItems: () => sumOf(held(), ({ quarantined }) => quarantined.length),
    views: shards.shown,
    requests,
    targetMetrics: options.targetMetrics,
  });
  const { canaries } = probing;
  const fenced = fencedStore && { fencedStore };
  const shared = { clock, random, log, store, ...fenced, bus, canaries, metrics: metrics.probes };
  const memory: ShardMemory = new Map();
  const socketBudget = newSocketBudget(ports.clock, ports.shares?.probesMax);
  const stop = new AbortController();

  const forget = () => {
    forgetOld(memory, metrics.probes, clock.monotonicMs());
    shards.forget(memory);
  };
  const forgetting = forgetRegularly(clock, forget, stop.signal);
  const runs = hostShards({
    clock,
    log,
    receiver: queue,
    concurrency,
    stop: stop.signal,
    portsFor: (lease) => ({ ...shared, ...probing.forRun(), lease }),
    runShard: loggedRuns(log, shards, { release, memory, socketBudget }),
  });
  return {
    fetch: operations(views, metrics.answer, options.server?.token),
    async stop() {
      stop.abort();
      await Promise.all([runs, forgetting]);
      await queue.settled();
      await probing.close();
      await bus.settled();
    },
  };
}

/** Runs a shard, logs when it is held and when it is left, and keeps its view meanwhile. */
const loggedRuns =
  (
    log: Log,
    shards: ReturnType<typeof heldShards>,
    options: Pick<RunOptions, 'release' | 'memory' | 'socketBudget'>,
  ): Host['runShard'] =>
  async (ports, message, deadlineMs, runOptions) => {
    const { shard, slot, kind } = message;
    let view: (() => RunView) | undefined;
    const onLoaded = (loaded: () => RunView) => {
      view = loaded;
      shards.loaded(shard, loaded);
      const { token, targets, probes } = loaded();
      log.info('shard held', { shard, slot, kind, token, targets, probes });
    };
    const end = await runReceived(ports, message, deadlineMs, { ...runOptions, ...options, onLoaded });
    if (view) log.info('shard left', { shard, slot, kind, token: view().token, end });
    if (view) shards.ended(shard, view, end);
    return end;
  };

const forgetIntervalMs = 30_000;

async function forgetRegularly(clock: Clock, forget: () => void, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await sleep(clock, forgetIntervalMs, stop);
    forget();
  }
}

/** By shard. */
type Views = ReadonlyMap<string, () => RunView>;

/** A worker without shards is healthy, because it waits for messages. */
function operations(views: Views, metrics: (request: Request) => Response, token: string | undefined): Worker['fetch'] {
  const refuse = token === undefined ? () => undefined : bearerToken(token);
  return async (request) => {
    const path = new URL(request.url).pathname;
    if (path === '/healthz') return jsonResponse(200, healthView(healthOf(views)));
    const refused = refuse(request);
    if (refused) return problemResponse(refused);
    if (path === '/metrics') return metrics(request);
    return problemResponse(problem(404, 'no-such-route', 'A worker has /healthz and /metrics.'));
  };
}

function healthOf(views: Views): Health {
  const named = [...views.values()].map((view) => view());
  return {
    ok: true,
    quarantined: named.flatMap(({ quarantined }) => quarantined),
    doubts: named.flatMap(({ shard, beat }) => (beat.doubt ? [{ shard, ...beat.doubt }] : [])),
    overloads: named.flatMap(({ shard, beat }) => (beat.overload ? [{ shard, ...beat.overload }] : [])),
    details: {
      shards: named.length,
      targets: sumOf(named, ({ targets }) => targets),
      probes: sumOf(named, ({ probes }) => probes),
      inFlight: sumOf(named, ({ inFlight }) => inFlight),
    },
  };
}

const sumOf = (views: readonly RunView[], count: (view: RunView) => number): number =>
  views.reduce((sum, view) => sum + count(view), 0);
