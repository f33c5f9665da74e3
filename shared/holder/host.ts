/**
 * Hosts runs: receives messages, runs the shard of each, and settles the message by how the run ended. A message that
 * is not acknowledged is delivered again, here or elsewhere, when its visibility ends.
 */
import { type Clock, sleep } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import {
  type Lease,
  type LookMessage,
  type QueueReceiver,
  QueueUnavailable,
  type Received,
  type ShardMessage,
} from '../queue/queue.ts';
import { decodeShardMessage } from '../queue/shard-message.ts';
import { aheadOfScheduleMs } from '../schedule/slots.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { Ports, RunEnd } from './run.ts';
import { answerLook } from './second-look.ts';
import type { RunOptions, runShard } from './shard-run.ts';

export type Host = {
  readonly clock: Clock;
  readonly log: Log;
  readonly portsFor: (lease: Lease) => Ports;
  readonly runShard: typeof runShard;
  readonly optionsFor?: (message: ShardMessage) => Omit<RunOptions, 'stop' | 'redelivered' | 'aheadMs'>;
  /** Hands over all runs and receives no more messages. */
  readonly stop: AbortSignal;
};

export type PollingHost = Host & {
  readonly receiver: QueueReceiver;
  /** The most shards that this process holds at the same time. */
  readonly concurrency: number;
};

/** How a message was settled. */
export type Settled =
  | 'acknowledged'
  /**
   * The message was done, but its handle was no longer valid: another process has received the message or may yet do
   * so.
   */
  | 'refused'
  /** The message was made visible at once, for another process. */
  | 'handedOver'
  /** The message was left as it is until its visibility ends. */
  | 'kept';

/** The longest wait of one receive: SQS's limit of a long poll. */
const waitMs = 20_000;
/** Pause after a failed receive. */
const pauseMs = 1_000;
/**
 * After a hand-over nothing is received for this long, so that the message goes to another process. If there is none,
 * the message comes back here.
 */
const restMs = 2_000;
/** How much of a malformed body is logged. */
const excerptCharactersMax = 200;

/**
 * Receives messages and runs their shards until `stop`. Resolves when the last run has ended and its message is
 * settled. Never throws.
 */
export async function hostShards(host: PollingHost): Promise<void> {
  const rest = restOf(host);
  const lane = async () => {
    while (!host.stop.aborted) {
      // Another lane may begin a rest while this one returns from the last. Receiving then would take back the message
      // that was handed over.
      while (rest.isOn()) await rest.over();
      if (host.stop.aborted) return;
      const received = await receiveNext(host, rest.signal());
      if (received) await settleReceived({ ...host, onHandover: rest.begin }, received);
    }
  };
  await Promise.all(Array.from({ length: host.concurrency }, lane));
}

/**
 * `onHandover` is called before the message becomes visible. Never throws: in Lambda an exception would slow down the
 * whole event source mapping.
 */
export async function settleReceived(
  host: Host & { readonly onHandover?: () => void },
  received: Received,
): Promise<Settled> {
  try {
    const decoded = decodeShardMessage(received.body);
    if (decoded.kind === 'malformed') {
      const excerpt = received.body.slice(0, excerptCharactersMax);
      host.log.error('malformed message dropped', { group: received.group, detail: decoded.detail, excerpt });
      return await acknowledged(received);
    }
    if (decoded.kind === 'look') return await look(host, received, decoded.message);
    const end = await runOne(host, received, decoded.message);
    return await settle(host, received, end);
  } catch (cause) {
    const { group, receiveCount } = received;
    host.log[levelOf(cause)]('message not settled', { group, receiveCount, cause });
    return 'kept';
  }
}

async function runOne(host: Host, received: Received, message: ShardMessage): Promise<RunEnd> {
  if (host.stop.aborted) return { kind: 'handover' };
  const { lease, receiveCount } = received;
  const aheadMs = aheadOfScheduleMs(host.clock, message, received);
  const options = { ...host.optionsFor?.(message), stop: host.stop, redelivered: receiveCount > 1, aheadMs };
  return host.runShard(host.portsFor(lease), message, message.slotEndMs + aheadMs, options);
}

/** A look that has waited longer is not awaited any more. */
const lookAgeMsMax = 15_000;
/** Until a look may come to another process than this one. */
const otherLookMs = 1_000;

/** Looks at what another process doubts. One of this process is left to others, as is one that it doubts itself. */
async function look(host: Host, received: Received, message: LookMessage): Promise<Settled> {
  const { lease, waitedMs = host.clock.nowMs() - message.sentAtMs } = received;
  const ports = host.portsFor(lease);
  const { place } = ports.secondPlace ?? {};
  try {
    if (host.stop.aborted || waitedMs > lookAgeMsMax) return await acknowledged(received);
    if (place !== message.place && (await given(host, ports, message))) return await acknowledged(received);
    return (await lease.extend(otherLookMs)) ? 'handedOver' : 'refused';
  } finally {
    ports.abandon();
  }
}

/** The one that asks believes itself if there is no answer. */
async function given({ log }: Host, ports: Ports, message: LookMessage): Promise<boolean> {
  try {
    return await answerLook(ports, message);
  } catch (cause) {
    if (!(cause instanceof StoreUnavailable)) throw cause;
    log.warn('second look not given', { shard: message.shard, cause });
    return true;
  }
}

/** A run in doubt keeps its message: a paused run whose late delete succeeded would delete its successor's message. */
async function settle(
  host: Host & { readonly onHandover?: () => void },
  received: Received,
  end: RunEnd,
): Promise<Settled> {
  switch (end.kind) {
    case 'slotDone':
    case 'stale':
    case 'moved':
    case 'asked':
    case 'fenced':
      return acknowledged(received);
    case 'handover':
      host.onHandover?.();
      return (await received.lease.extend(0)) ? 'handedOver' : 'refused';
    case 'doubt':
      return 'kept';
  }
}

const acknowledged = async (received: Received): Promise<Settled> =>
  (await received.acknowledge()) ? 'acknowledged' : 'refused';

/** An exception that does not come from the queue is a bug. */
const levelOf = (cause: unknown): 'warn' | 'error' => (cause instanceof QueueUnavailable ? 'warn' : 'error');

async function receiveNext(
  { receiver, clock, log, stop }: PollingHost,
  signal: AbortSignal,
): Promise<Received | undefined> {
  try {
    return await receiver.receive(waitMs, signal);
  } catch (cause) {
    log[levelOf(cause)]('nothing received', { cause });
    await sleep(clock, pauseMs, stop);
    return undefined;
  }
}

/** A period in which no lane of the host receives. */
function restOf({ clock, stop }: Host) {
  let receiving = new AbortController();
  let untilMs = clock.monotonicMs();
  const isOn = () => clock.monotonicMs() < untilMs && !stop.aborted;
  stop.addEventListener('abort', () => receiving.abort(), { once: true });
  return {
    /** Aborted at a stop and when a rest begins. */
    signal: () => receiving.signal,
    begin() {
      if (stop.aborted) return;
      untilMs = clock.monotonicMs() + restMs;
      receiving.abort();
      receiving = new AbortController();
    },
    isOn,
    async over() {
      while (isOn()) await sleep(clock, untilMs - clock.monotonicMs(), stop);
    },
  };
}
