/** Calls to SQS: the client, its time-outs and bounded retries, its failures, and what a received message carries. */
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  MessageNotInflight,
  ReceiptHandleIsInvalid,
  SQSClient,
  type SQSClientConfig,
  SQSServiceException,
} from '@aws-sdk/client-sqs';
import { type Access, isDenial } from '../aws/access.ts';
import { descriptorsMax } from '../core/self/sockets.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { QueueDenied, QueueUnavailable, type Received } from './queue.ts';

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

const connectionTimeoutMs = 1_500;
/**
 * Besides heartbeats and polls, the client carries the calls of exec probes (`aws-call.ts`), so it needs a socket for
 * each probe in flight.
 */
const maxSockets = descriptorsMax;

/**
 * Makes one attempt per call and sets no request time-out. The adapter does both, because a long poll may take longer
 * than a heartbeat. Calls go to the client's endpoint (`AWS_ENDPOINT_URL`), not to the one in the queue's URL.
 */
export const sqsClient = (config: Pick<SQSClientConfig, 'region' | 'endpoint' | 'credentials'> = {}): SQSClient =>
  new SQSClient({
    ...config,
    maxAttempts: 1,
    useQueueUrlAsEndpoint: false,
    requestHandler: { connectionTimeout: connectionTimeoutMs, httpAgent: { maxSockets }, httpsAgent: { maxSockets } },
  });

/**
 * Kinds of failures, by error code and never by message.
 *
 * - `handle`: the receipt handle is no longer valid.
 * - `passing`: a retry may succeed. The call may have been executed.
 * - `denied`: the caller lacks a permission.
 * - `lasting`: the parameters are invalid, so a retry is useless.
 */
export type SqsFailure = 'handle' | 'passing' | 'denied' | 'lasting';

/**
 * SQS has no specific code for an expired handle. A FIFO queue rejects it with these; a standard queue would accept it.
 */
const invalidParameterNames: ReadonlySet<string> = new Set(['InvalidParameterValue', 'InvalidParameterValueException']);

const throttlingNames: ReadonlySet<string> = new Set([
  'RequestThrottled',
  'ThrottlingException',
  'Throttling',
  'OverLimit',
]);

const tooManyRequests = 429;
const serverErrorFrom = 500;

export function sqsFailure(error: unknown): SqsFailure {
  // There was no answer, or it could not be read.
  if (!(error instanceof SQSServiceException)) return 'passing';
  if (error instanceof ReceiptHandleIsInvalid || error instanceof MessageNotInflight) return 'handle';
  if (invalidParameterNames.has(error.name)) return 'handle';
  if (isDenial(error.name)) return 'denied';
  if (throttlingNames.has(error.name)) return 'passing';
  const status = error.$metadata.httpStatusCode ?? serverErrorFrom;
  return status >= serverErrorFrom || status === tooManyRequests ? 'passing' : 'lasting';
}

/** When SQS accepted the message and when it was first received, both by SQS's clock. */
export const waitAttributes = ['SentTimestamp', 'ApproximateFirstReceiveTimestamp'] as const;

type WaitAttributes = { readonly [attribute in (typeof waitAttributes)[number]]?: string | undefined };

/** Known for the first receipt only, because SQS does not report the time of later ones. */
export function waitOf(
  attributes: WaitAttributes & { readonly ApproximateReceiveCount?: string | undefined },
): Pick<Received, 'waitedMs'> {
  const [sentAtMs, receivedAtMs] = waitAttributes.map((name) => Number(attributes[name] ?? Number.NaN));
  const waitedMs = (receivedAtMs ?? Number.NaN) - (sentAtMs ?? Number.NaN);
  return attributes.ApproximateReceiveCount === '1' && waitedMs >= 0 ? { waitedMs } : {};
}
