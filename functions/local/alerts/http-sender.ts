/** Sends alerts by HTTP. Receivers are chosen by the operator, so the dial policy of probes does not apply. */
import { Agent, request } from 'undici';
import type { Notification } from '../../../shared/alerts/alert-state.ts';
import type { SendOutcome } from '../../../shared/alerts/delivery.ts';
import { alertRequest } from '../../../shared/alerts/formats/formats.ts';
import type { HttpReceiver } from '../../../shared/alerts/formats/receiver.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { retryAfterMs } from '../../../shared/lib/retry-after.ts';
import { boundedBytes } from '../../client/connections.ts';
import { answerLine } from './answer-line.ts';

/** Bytes of an answer that are read, so that the connection can be used again. */
const answerBytesMax = 64 * 1_024;
/** One notification at a time goes to each receiver. */
const connectionsPerHost = 4;
const keptOpenMs = 10_000;

/** These statuses say that this request will never be accepted. Others may be passing, or faults of the set-up. */
const refusals: ReadonlySet<number> = new Set([400, 413, 422]);

export type HttpSender = {
  /** Never throws. */
  readonly send: (notification: Notification, receiver: HttpReceiver, signal: AbortSignal) => Promise<SendOutcome>;
  readonly close: () => Promise<void>;
};

export function httpSender(clock: Clock): HttpSender {
  const agent = new Agent({ connections: connectionsPerHost, keepAliveTimeout: keptOpenMs });
  return {
    async send(notification, receiver, signal) {
      const { url, ...options } = alertRequest(notification, receiver, clock.nowMs());
      try {
        const { statusCode, headers, body } = await request(url, { ...options, signal, dispatcher: agent });
        const answer = answerLine((await boundedBytes(body, answerBytesMax)).toString('utf8'), receiver);
        const asked = headers['retry-after'];
        const afterMs = retryAfterMs(Array.isArray(asked) ? asked[0] : asked, clock.nowMs());
        return { ...outcomeOf(statusCode, afterMs), ...(answer !== '' && { answer }) };
      } catch (error) {
        return { kind: 'failed', why: failureText(error) };
      }
    },
    close: () => agent.destroy(),
  };
}

function outcomeOf(status: number, afterMs: number | undefined): SendOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const why = `status ${status}`;
  if (refusals.has(status)) return { kind: 'refused', why };
  return { kind: 'failed', why, ...(afterMs !== undefined && { afterMs }) };
}

/** A code alone: messages may contain the URL, which may be a secret. */
const failureText = (error: unknown): string =>
  error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.name) : 'unknown error';
