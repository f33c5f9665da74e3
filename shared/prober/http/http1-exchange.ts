/** HTTP/1.1 on a socket, plain or TLS. */

import type { Socket } from 'node:net';
import { type Progress, responseReader } from '../../http1/response.ts';
import { hostPort } from '../../net/dial-failure.ts';
import { readSocket } from '../../net/reading.ts';
import { tooMuchBelowTls } from '../../net/tls-guard.ts';
import { awaitingHeadTimeout } from '../deadline.ts';
import { keptMessage } from '../kept-memory.ts';
import { alertText } from '../tls/alert.ts';
import { type Exchange, type ExchangeFailure, readingBodyTimeout } from './http-exchange.ts';
import { sentHead1 } from './request.ts';

type Outcome = Exclude<Progress, 'more'>;

export const exchangeHttp1: Exchange = (socket, request, { clock, deadline, bodyBytesMax, reserve }) =>
  new Promise((resolve) => {
    const reader = responseReader({ bodyBytesMax, reserve });
    const startMs = clock.monotonicMs();
    let firstByteMs: number | undefined;
    let isOpen = true;

    const settle = (outcome: Outcome, failureClass: ExchangeFailure['failureClass'] = 'HTTP_PROTOCOL') => {
      if (!isOpen) return;
      isOpen = false;
      socket.destroy();
      if (outcome.kind === 'tooMuch') return resolve({ kind: 'failed', failureClass: 'PROBER', message: keptMessage });
      if (outcome.kind === 'broken') return resolve({ kind: 'failed', failureClass, message: outcome.message });
      resolve({ kind: 'response', response: outcome.response, firstByteMs: firstByteMs ?? 0 });
    };
    readSocket(socket, {
      take: (bytes) => {
        if (!isOpen) return;
        firstByteMs ??= clock.monotonicMs() - startMs;
        const progress = reader.take(bytes);
        if (progress !== 'more') settle(progress);
      },
      ended: () => settle(reader.end()),
      failed: (error) => {
        const alert = alertText(error.code ?? '');
        settle(reader.end(alert ?? socketProblem(socket, error)), alert === undefined ? 'CONNECT_RESET' : 'TLS');
      },
      closed: () => settle(reader.end()),
    });
    deadline.whenOver(() => settle(timedOut(reader.end(readingBodyTimeout)), 'TIMEOUT'));
    // The peer may have closed the connection before there was a listener; then no event would come.
    if (socket.destroyed) return settle(reader.end());
    const head = sentHead1(request);
    if (head.kind === 'refused') settle({ kind: 'broken', message: head.message });
    else socket.write(head.text, 'latin1');
  });

/** Go names the wait that timed out. */
const timedOut = (outcome: Outcome): Outcome =>
  outcome.kind === 'broken' ? { kind: 'broken', message: awaitingHeadTimeout } : outcome;

const problems: Readonly<Record<string, string>> = {
  ECONNRESET: 'read: connection reset by peer',
  EPIPE: 'write: broken pipe',
  ETIMEDOUT: 'read: connection timed out',
  [tooMuchBelowTls]: 'tls: too many ignored records',
};

function socketProblem(socket: Socket, { code = 'EUNKNOWN' }: NodeJS.ErrnoException): string {
  const { remoteAddress, remotePort } = socket;
  const peer = remoteAddress === undefined ? '' : ` ${hostPort(remoteAddress, remotePort ?? 0)}`;
  return `read tcp${peer}: ${problems[code] ?? code}`;
}
