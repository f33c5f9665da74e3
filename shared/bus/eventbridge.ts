/**
 * The bus on EventBridge. PutEvents takes ten entries and answers 200 even when it took none: failures are matched by index and sent
 * again, alone, within bounded attempts. Source: PutEvents in the EventBridge API reference.
 */
import {
  type EventBridgeClient,
  EventBridgeServiceException,
  PutEventsCommand,
  type PutEventsRequestEntry,
  type PutEventsResultEntry,
} from '@aws-sdk/client-eventbridge';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Bus, PublishOptions } from './bus.ts';
import { type BusEvent, eventSource } from './events.ts';

export type EventBridgeBusOptions = {
  /** Best made with `maxAttempts: 1`: this adapter retries by itself. */
  readonly client: EventBridgeClient;
  readonly busName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

/** PutEvents' limits. */
const entriesMax = 10;
const requestBytesMax = 256 * 1024;
/** Time (14), source, detail-type and detail count; the rest is room for what the API adds. */
const entryOverheadBytes = 64;

const attemptsMax = 5;
const firstRetryMs = 100;
const callTimeoutMs = 3_000;
/** Nothing is sent again later than this: whoever publishes has to end, and what is not acked is published anew. */
const retriedMsMax = 6_000;

type Entry = { readonly index: number; readonly entry: PutEventsRequestEntry; readonly bytes: number };
type Sent = { readonly taken: true } | { readonly taken: false; readonly code: string; readonly again: boolean };

export function eventBridgeBus(options: EventBridgeBusOptions): Bus {
  const { clock, random, log, busName } = options;
  return {
    publish: async (events, { signal }: PublishOptions = {}) => {
      const startedMs = clock.monotonicMs();
      const isOver = () => signal?.aborted || clock.monotonicMs() - startedMs > retriedMsMax;
      let pending = events.map((event, index) => entryOf(event, index, busName));
      const failed: number[] = [];
      for (let attempt = 1; pending.length > 0; attempt += 1) {
        const refused: Entry[] = [];
        for (const call of calls(pending)) {
          const answers = signal?.aborted ? [] : await put(options, call, signal);
          call.forEach((sent, place) => {
            const answer = answers[place];
            if (answer?.taken) return;
            const again = (answer?.again ?? true) && attempt < attemptsMax && !isOver();
            if (again) refused.push(sent);
            else failed.push(sent.index);
            if (!again) log.error('event not taken by the bus', { index: sent.index, code: answer?.code, attempt });
          });
        }
        pending = refused;
        if (pending.length > 0)
          await sleep(clock, firstRetryMs * 2 ** (attempt - 1) * (0.5 + random.next() / 2), signal);
      }
      return { failed: failed.sort((a, b) => a - b) };
    },
  };
}

function entryOf(event: BusEvent, index: number, busName: string): Entry {
  const detail = JSON.stringify(event.detail);
  const entry: PutEventsRequestEntry = {
    EventBusName: busName,
    Source: eventSource,
    DetailType: event.detailType,
    Time: new Date(event.timeMs),
    Detail: detail,
  };
  const bytes = Buffer.byteLength(detail) + event.detailType.length + eventSource.length + entryOverheadBytes;
  return { index, entry, bytes };
}

/** Groups within PutEvents' limits, in order. */
function calls(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const groups: Entry[][] = [];
  let bytes = 0;
  for (const each of entries) {
    const group = groups.at(-1);
    if (!group || group.length === entriesMax || bytes + each.bytes > requestBytesMax) {
      groups.push([each]);
      bytes = each.bytes;
    } else {
      group.push(each);
      bytes += each.bytes;
    }
  }
  return groups;
}

/** One call; one answer for each entry, in order. */
async function put(
  options: EventBridgeBusOptions,
  call: readonly Entry[],
  signal: AbortSignal | undefined,
): Promise<readonly Sent[]> {
  const timeout = new AbortController();
  const abortSignal = signal ? AbortSignal.any([timeout.signal, signal]) : timeout.signal;
  const cancel = options.clock.setTimer(callTimeoutMs, () => timeout.abort());
  try {
    const command = new PutEventsCommand({ Entries: call.map((each) => each.entry) });
    const answer = await options.client.send(command, { abortSignal });
    const entries = answer.Entries ?? [];
    // Entries come back in the order in which they were sent; a missing one was not taken as far as anybody knows.
    return call.map((_, place) => sentOf(entries[place]));
  } catch (error) {
    options.log.warn('PutEvents failed', { error });
    const refusal: Sent = {
      taken: false,
      code: error instanceof Error ? error.name : 'Unknown',
      again: isPassing(error),
    };
    return call.map(() => refusal);
  } finally {
    cancel();
  }
}

/** Entry codes that no repetition cures. */
const permanentCodes: ReadonlySet<string> = new Set([
  'InvalidArgument',
  'MalformedDetail',
  'RedactionFailure',
  'NotAuthorizedForSourceException',
  'NotAuthorizedForDetailTypeException',
  'InvalidAccountIdException',
]);

function sentOf(entry: PutEventsResultEntry | undefined): Sent {
  if (entry?.EventId) return { taken: true };
  const code = entry?.ErrorCode ?? 'NoAnswer';
  return { taken: false, code, again: !permanentCodes.has(code) };
}

/** Whether a failed call may succeed later: no answer, a fault of the service, or throttling. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof EventBridgeServiceException)) return true;
  return error.$fault === 'server' || error.$metadata.httpStatusCode === 429 || error.name.includes('Throttl');
}
