/**
 * The prober function. An event of the queue's mapping is one message, which is one shard for one slot, and the
 * function holds the shard as long as it may. It never throws, because Lambda would reduce the concurrency of the whole
 * mapping. It leaves nothing pending when it returns, because Lambda would freeze that and resume it in the next
 * invocation.
 */
import type { Reach } from '../../shared/core/self/health.ts';
import { type Host, settleReceived } from '../../shared/holder/host.ts';
import { newSocketBudget, type SocketBudget } from '../../shared/holder/probing/sockets.ts';
import { runReceived } from '../../shared/holder/receipt.ts';
import type { Canary, Ports, SecondPlacePort } from '../../shared/holder/run.ts';
import type { RunView, ShardMemory } from '../../shared/holder/shard-run.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { DialPolicy } from '../../shared/net/net.ts';
import { resolver } from '../../shared/net/resolver.ts';
import { shortageLog } from '../../shared/net/shortage.ts';
import type { ProberPorts } from '../../shared/prober/registry.ts';
import type { Lease, Received } from '../../shared/queue/queue.ts';
import { sqsQueue } from '../../shared/queue/sqs.ts';
import type { SqsOptions } from '../../shared/queue/sqs-call.ts';
import { decodeSqsEvent, type SqsEventBatch } from '../../shared/queue/sqs-event.ts';
import { layoutKey } from '../../shared/store/records/keys.ts';
import type { Store } from '../../shared/store/store.ts';
import type { InvocationContext } from '../lambda/environment.ts';
import type { FunctionPorts, NewStore } from '../lambda/ports.ts';
import { runProbing } from '../run-probing.ts';
import { invocationDeadline } from './deadline.ts';
import { countedProbes, keepReporting, type ReportedProbes } from './probe-metrics.ts';
import { onlyOf, processMemory } from './process-memory.ts';

export type ProberFunctionPorts = FunctionPorts &
  NewStore & {
    readonly queue: Pick<SqsOptions, 'client' | 'queueUrl' | 'access'>;
    readonly policy: DialPolicy;
    readonly canaries: readonly Canary[];
    readonly release: string;
    /** `clock` belongs to one run and ends with it. */
    readonly outside: (clock: ProberPorts['clock']) => Pick<ProberPorts, 'run' | 'secrets'>;
    /** The network scope of the runner, since commands run elsewhere. */
    readonly execReach: Reach;
    /** Absent: every TLS handshake is a full one. Kept between runs. */
    readonly tlsSessions?: ProberPorts['tlsSessions'];
    /** Absent without a watchdog. */
    readonly attribution?: Ports['attribution'];
    /** Defaults to probing over the machine's network. */
    readonly runProbing?: typeof runProbing;
  };

type Answer = ReturnType<SqsEventBatch['answer']>;

/** What a process keeps from one run to the next. */
export type ProberProcess = {
  /** What it remembers of the shard that it held last. */
  readonly memory: ShardMemory;
  readonly probes: ReportedProbes;
  readonly socketBudget: SocketBudget;
  readonly fencedStore: Store;
  readonly secondPlace: SecondPlacePort;
};

type ProcessPorts = NewStore & Pick<FunctionPorts, 'clock' | 'random'> & Pick<ProberFunctionPorts, 'queue'>;

export const newProcess = ({ newStore, clock, random, queue }: ProcessPorts): ProberProcess => ({
  memory: new Map(),
  probes: countedProbes(),
  socketBudget: newSocketBudget(clock),
  fencedStore: newStore(),
  secondPlace: { place: random.uuid(), send: sqsQueue({ ...queue, clock, random }).send },
});

export function proberFunction(ports: ProberFunctionPorts) {
  const runs = reportedRuns(ports, newProcess(ports));
  return async (event: unknown, context: InvocationContext): Promise<Answer> => {
    const { clock, random, log, metrics, queue } = ports;
    log.begin(context);
    if (isStartCheck(event)) return started(ports);
    const decoded = decodeSqsEvent(event, { ...queue, clock, random });
    if (decoded.kind === 'malformed') {
      log.error('malformed event dropped', { detail: decoded.detail });
      metrics.emit({ EventsMalformed: 1 });
      return { batchItemFailures: [] };
    }
    const deadline = invocationDeadline(clock, context);
    const host = { clock, log, stop: deadline.signal, ...runs };
    await Promise.all(decoded.batch.received.map((each) => hold(host, each)));
    deadline.cancel();
    return decoded.batch.answer();
  };
}

/** A deployment invokes the function without anything, to see whether the release starts (cdk/release-trigger.ts). */
const isStartCheck = (event: unknown): boolean =>
  typeof event === 'object' && event !== null && !Array.isArray(event) && Object.keys(event).length === 0;

/** What each run needs first. @throws StoreUnavailable, which makes the deployment fail */
async function started({ store, log, release }: ProberFunctionPorts): Promise<Answer> {
  await store.get(layoutKey);
  log.info('release starts', { release });
  return { batchItemFailures: [] };
}

/**
 * The end of the run determines what happens to the message. After a run that the deadline ended, the message becomes
 * visible at once.
 */
async function hold(host: Host, received: Received): Promise<void> {
  const settled = await settleReceived(host, received);
  if (settled === 'acknowledged') return;
  host.log.info('message not deleted', { settled, receiveCount: received.receiveCount });
}

/** Runs shards in this process, and publishes what they count once a minute and at the end of each run. */
export function reportedRuns(
  ports: ProberFunctionPorts,
  { memory, probes, socketBudget, fencedStore, secondPlace }: ProberProcess,
): Pick<Host, 'portsFor' | 'runShard'> {
  const { clock, log, metrics, release } = ports;
  return {
    portsFor: (lease) => ({ ...runPorts(ports, lease, probes), fencedStore, secondPlace }),
    async runShard(own, message, deadlineMs, options) {
      const { shard, slot } = message;
      let view: (() => RunView) | undefined;
      const onLoaded = (look: () => RunView) => {
        view = look;
      };
      let inDoubt = 0;
      const reporting = keepReporting({ clock, metrics, probes, view: () => view?.(), memory: processMemory });
      const kept = { release, memory: onlyOf(memory, shard), socketBudget, onLoaded };
      try {
        const end = await runReceived(own, message, deadlineMs, { ...options, ...kept });
        inDoubt = end.kind === 'doubt' ? 1 : 0;
        log.info('run over', { shard, slot, end });
        return end;
      } finally {
        await reporting.end({ RunsInDoubt: inDoubt });
      }
    },
  };
}

function runPorts(ports: ProberFunctionPorts, lease: Lease, metrics: Ports['metrics']): Ports {
  const { clock, random, log, store, bus, policy, canaries, outside, execReach, attribution, tlsSessions } = ports;
  const begin = ports.runProbing ?? runProbing;
  // The resolver's cache lasts for one run only, because the function may be frozen for a long time between two runs.
  const resolveOn = (own: Clock) => resolver({ clock: own });
  const onFailedDial = shortageLog(clock, log);
  const probing = begin({ clock, policy, attribution, tlsSessions, outside, onFailedDial, resolveOn });
  return { clock, random, log, store, bus, lease, metrics, canaries, execReach, ...probing };
}
