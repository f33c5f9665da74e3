/**
 * What both versions of HTTP have in common: one request on a fresh connection, and one response or the reason why
 * there is none.
 */
import type { Socket } from 'node:net';
import type { Reserve } from '../../http1/fields.ts';
import type { Head } from '../../http1/head.ts';
import type { HttpResponse } from '../../http1/response.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Deadline } from '../deadline.ts';
import type { RequestHead } from './request.ts';

/** Sends the request over `socket` and destroys it afterwards. Never throws. */
export type Exchange = (socket: Socket, request: RequestHead, options: ExchangeOptions) => Promise<Exchanged>;

export type ExchangeOptions = {
  readonly clock: Clock;
  readonly deadline: Deadline;
  /** How many bytes of the body are wanted, once the head is known. */
  readonly bodyBytesMax: (head: Head) => number;
  readonly reserve: Reserve;
};

export type Exchanged =
  | { readonly kind: 'response'; readonly response: HttpResponse; readonly firstByteMs: number }
  | ExchangeFailure;

/** No response: the head never arrived, or was malformed. */
export type ExchangeFailure = {
  readonly kind: 'failed';
  /** `PROBER`: there was no memory for the response. */
  readonly failureClass: 'TIMEOUT' | 'CONNECT_RESET' | 'HTTP_PROTOCOL' | 'TLS' | 'PROBER';
  readonly message: string;
  /**
   * To be asked once more, on another connection: the server says that it did not begin, as Go's client does, or it has
   * left a connection with a resumed session without an answer.
   */
  readonly isRetried?: boolean;
};

export const readingBodyTimeout =
  'context deadline exceeded (Client.Timeout or context cancellation while reading body)';
