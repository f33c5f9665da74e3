/** Calls SQS with a time-out and bounded retries, and implements the operations on a receipt handle. */
import { ChangeMessageVisibilityCommand, DeleteMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Access } from '../aws/access.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { QueueDenied, QueueUnavailable, type Received } from './queue.ts';
import { sqsFailure } from './sqs-failure.ts';

export type SqsOptions = {
  /** See `sqsClient`: the client must not retry. */
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly clock: Clock;
  readonly random: Random;
  /** For one request. A long poll adds its wait time. */
  readonly requestTimeoutMs?: number;
  /** Remembers denials. If absent, a denied request is sent again each time. */
  readonly access?: Access;
};

/** A heartbeat is due every 5 s and may need a retry. */
const requestTimeoutMsDefault = 1_500;
/** At 1.5 s a call, an extension takes at most 3 s of the 12 s of a run's self-fence. */
const extendsMax = 2;
const deletesMax = 4;
/** Pauses between attempts use full jitter below a bound that doubles. */
const pauseMs = 25;

type Limits = {
  /** SQS's name of the operation. */
  readonly request: string;
  readonly sendsMax: number;
  readonly waitMs?: number;
  /** When aborted, the request in flight completes but is not repeated. */
  readonly last?: AbortSignal | undefined;
};

/**
 * Sends a request until it succeeds.
 * @throws QueueUnavailable after `sendsMax` attempts or a permanent refusal; QueueDenied if a permission is missing.
 */
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

/** Returns the operations on the receipt handle of a message. */
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

/** Returns false if the handle is no longer valid. */
async function unlessRefused(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof QueueUnavailable && sqsFailure(error.cause) === 'handle') return false;
    throw error;
  }
}

/** SQS counts in whole seconds. Rounding up makes a lease too long rather than too short. */
export const secondsOf = (ms: number): number => Math.ceil(ms / 1_000);
