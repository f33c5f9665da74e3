/** Calls of SQS: each with its time-out, retried within bounds, and what is done with a receipt handle. */
import { ChangeMessageVisibilityCommand, DeleteMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Access } from '../aws/access.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { QueueDenied, QueueUnavailable, type Received } from './queue.ts';
import { sqsFailure } from './sqs-failure.ts';

export type SqsOptions = {
  /** See `sqsClient`: without retries of its own. */
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Of one request; a long poll has its wait in addition. */
  readonly requestTimeoutMs?: number;
  /** Remembers what is denied; absent: it is sent, and denied, each time. */
  readonly access?: Access;
};

/** A heartbeat comes every 5 s and may have to be tried again. */
const requestTimeoutMsDefault = 1_500;
/** With 1.5 s a call, an extension takes at most 3 s of the 12 s of a run's self-fence. */
const extendsMax = 2;
const deletesMax = 4;
/** Pauses between sends: full jitter below a doubling bound. */
const pauseMs = 25;

type Limits = {
  /** The operation, as SQS calls it. */
  readonly request: string;
  readonly sendsMax: number;
  readonly waitMs?: number;
  /** Aborted: what is under way comes to its end, and is not sent again. */
  readonly last?: AbortSignal | undefined;
};

/** @throws QueueUnavailable after `sendsMax` sends, or when the service refuses for good; QueueDenied when a right is missing. */
export async function callSqs<Answer>(
  { clock, random, requestTimeoutMs = requestTimeoutMsDefault, access }: SqsOptions,
  send: (abortSignal: AbortSignal) => Promise<Answer>,
  { request, sendsMax, waitMs = 0, last }: Limits,
): Promise<Answer> {
  if (access?.isDenied(request)) throw new QueueDenied(`no right for ${request}`);
  const timeoutMs = waitMs + requestTimeoutMs;
  for (let sends = 1; ; sends += 1) {
    try {
      const answer = await timed(clock, send, timeoutMs);
      access?.granted(request);
      return answer;
    } catch (cause) {
      if (sqsFailure(cause) === 'denied') {
        access?.denied(request, cause);
        throw new QueueDenied(`no right for ${request}`, { cause });
      }
      if (sqsFailure(cause) !== 'passing' || sends === sendsMax || last?.aborted)
        throw new QueueUnavailable('SQS cannot be reached or refuses service', { cause });
    }
    await sleep(clock, random.next() * pauseMs * 2 ** sends, last);
  }
}

async function timed<Answer>(
  clock: Clock,
  send: (abortSignal: AbortSignal) => Promise<Answer>,
  timeoutMs: number,
): Promise<Answer> {
  const timeout = new AbortController();
  const cancel = clock.setTimer(timeoutMs, () => timeout.abort());
  try {
    return await send(timeout.signal);
  } finally {
    cancel();
  }
}

/** The message's lease and its end, by its receipt handle. */
export function heldBy(options: SqsOptions, receiptHandle: string): Pick<Received, 'lease' | 'acknowledge'> {
  const { client, queueUrl: QueueUrl } = options;
  const named = { QueueUrl, ReceiptHandle: receiptHandle };
  return {
    lease: {
      extend(visibilityMs) {
        const command = new ChangeMessageVisibilityCommand({ ...named, VisibilityTimeout: secondsOf(visibilityMs) });
        const send = (abortSignal: AbortSignal) => client.send(command, { abortSignal });
        return unlessRefused(callSqs(options, send, { request: 'SQS: ChangeMessageVisibility', sendsMax: extendsMax }));
      },
    },
    acknowledge() {
      const command = new DeleteMessageCommand(named);
      const send = (abortSignal: AbortSignal) => client.send(command, { abortSignal });
      return unlessRefused(callSqs(options, send, { request: 'SQS: DeleteMessage', sendsMax: deletesMax }));
    },
  };
}

/** false: the handle does not count any more. */
async function unlessRefused(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof QueueUnavailable && sqsFailure(error.cause) === 'handle') return false;
    throw error;
  }
}

/** SQS counts in whole seconds; a lease is rather too long than too short. */
export const secondsOf = (ms: number): number => Math.ceil(ms / 1_000);
