/**
 * The bus on EventBridge. PutEvents takes ten entries and answers 200 even if it accepted none. Failed entries are
 * identified by index and sent again, within bounded attempts. Source: PutEvents in the EventBridge API reference.
 */
import {
  type EventBridgeClient,
  EventBridgeServiceException,
  PutEventsCommand,
  type PutEventsRequestEntry,
  type PutEventsResultEntry,
} from '@aws-sdk/client-eventbridge';
import { type Access, access, isDenial } from '../aws/access.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Bus, PublishOptions } from './bus.ts';
import { type BusEvent, eventSource } from './events.ts';

export type EventBridgeBusOptions = {
  /** Should be configured with `maxAttempts: 1`, because this adapter retries. */
  readonly client: EventBridgeClient;
  readonly busName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Remembers denials. Defaults to a separate instance. */
  readonly access?: Access;
};

/** PutEvents' limits. */
const entriesMax = 10;
const requestBytesMax = 256 * 1024;
/** The size of an entry beside its texts: 14 bytes for the time, and a margin for what the API adds. */
const entryOverheadBytes = 64;

/** Sequential calls of some 25 ms carry 400 events a second, which a surge exceeds. */
const callsAtOnce = 8;

const attemptsMax = 5;
const firstRetryMs = 100;
const callTimeoutMs = 3_000;
/**
 * Retries stop after this time, because the publisher's run must end. Events that are not acknowledged are published
 * again later.
 */
const retriedMsMax = 6_000;

type Entry = { readonly index: number; readonly entry: PutEventsRequestEntry; readonly bytes: number };
type PutResult =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly code: string; readonly again: boolean }
  | { readonly kind: 'denied' };

export function eventBridgeBus(given: EventBridgeBusOptions): Bus {
  const options = { ...given, access: given.access ?? access(given) };
  const { clock, random, log, busName } = options;
  return {
    publish: async (events, { signal }: PublishOptions = {}) => {
      const startedMs = clock.monotonicMs();
      const isOver = () => signal?.aborted || clock.monotonicMs() - startedMs > retriedMsMax;
      let pending = events.map((event, index) => entryOf(event, index, busName));
      const failed: number[] = [];
      let denied: true | undefined;
      for (let attempt = 1; pending.length > 0; attempt += 1) {
        const refused: Entry[] = [];
        const putOne = async (call: readonly Entry[]) => {
          const answers = signal?.aborted ? [] : await put(options, call, signal);
          call.forEach((sent, place) => {
            const answer = answers[place] ?? notPut;
            if (answer.kind === 'taken') return;
            if (answer.kind === 'refused' && answer.again && attempt < attemptsMax && !isOver()) {
              refused.push(sent);
              return;
            }
            failed.push(sent.index);
            if (answer.kind === 'denied') denied = true;
            else log.error('event not taken by the bus', { index: sent.index, code: answer.code, attempt });
          });
        };
        const groups = calls(pending);
        for (let at = 0; at < groups.length; at += callsAtOnce)
          await Promise.all(groups.slice(at, at + callsAtOnce).map(putOne));
        pending = refused;
        if (pending.length > 0)
          await sleep(clock, firstRetryMs * 2 ** (attempt - 1) * (0.5 + random.next() / 2), signal);
      }
      return { failed: failed.sort((a, b) => a - b), ...(denied && { denied }) };
    },
  };
}

/** The caller aborted before this call began. */
const notPut: PutResult = { kind: 'refused', code: 'Aborted', again: true };

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

/** Splits the entries, in order, into groups within PutEvents' limits. */
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

const putEvents = 'EventBridge: PutEvents';

/** Makes one call and returns one result for each entry, in order. */
async function put(
  options: Required<EventBridgeBusOptions>,
  call: readonly Entry[],
  signal: AbortSignal | undefined,
): Promise<readonly PutResult[]> {
  const { access: own, log } = options;
  if (own.isDenied(putEvents)) return call.map(() => ({ kind: 'denied' }));
  const timeout = new AbortController();
  const abortSignal = signal ? AbortSignal.any([timeout.signal, signal]) : timeout.signal;
  const cancel = options.clock.setTimer(callTimeoutMs, () => timeout.abort());
  try {
    const command = new PutEventsCommand({ Entries: call.map((each) => each.entry) });
    const answer = await options.client.send(command, { abortSignal });
    const entries = answer.Entries ?? [];
    // Results come in the order of the entries. An entry without a result counts as not accepted.
    const sent = call.map((_, place) => sentOf(entries[place]));
    if (sent.some(({ kind }) => kind === 'denied')) own.denied(putEvents, answer);
    else own.granted(putEvents);
    return sent;
  } catch (error) {
    const code = error instanceof Error ? error.name : 'Unknown';
    if (isDenial(code)) own.denied(putEvents, error);
    else log.warn('PutEvents failed', { error });
    const refusal: PutResult = isDenial(code) ? { kind: 'denied' } : { kind: 'refused', code, again: isPassing(error) };
    return call.map(() => refusal);
  } finally {
    cancel();
  }
}

/** Entry errors that a retry cannot fix. */
const permanentCodes: ReadonlySet<string> = new Set([
  'InvalidArgument',
  'MalformedDetail',
  'RedactionFailure',
  'InvalidAccountIdException',
]);

/** Entry errors of a bus whose policy denies this source or detail type. */
const unauthorizedCodes: ReadonlySet<string> = new Set([
  'NotAuthorizedForSourceException',
  'NotAuthorizedForDetailTypeException',
]);

function sentOf(entry: PutEventsResultEntry | undefined): PutResult {
  if (entry?.EventId) return { kind: 'taken' };
  const code = entry?.ErrorCode ?? 'NoAnswer';
  if (unauthorizedCodes.has(code) || isDenial(code)) return { kind: 'denied' };
  return { kind: 'refused', code, again: !permanentCodes.has(code) };
}

/** Whether a failed call may succeed later: there was no answer, a server fault, or throttling. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof EventBridgeServiceException)) return true;
  return error.$fault === 'server' || error.$metadata.httpStatusCode === 429 || error.name.includes('Throttl');
}
