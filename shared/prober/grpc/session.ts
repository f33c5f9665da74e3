/**
 * One HTTP/2 connection with prior knowledge over a dialed socket, for one call. It waits for the server's SETTINGS and
 * then for the outcome of the call, each until a deadline. Source: grpc-go, internal/transport/http2_client.go.
 */
import type { Socket } from 'node:net';
import { clientGreeting, connectHttp2, type Http2Connection } from '../../http2/connection.ts';
import { afterArrivals, type Clock } from '../../lib/clock.ts';
import { type CallAttempt, type CallOutcome, CallState, frameBytesMax } from './call.ts';
import { isGrpcField } from './headers.ts';
import type { Call } from './request.ts';

/** The limit of grpc-go. */
const headerListBytesMax = 16 * 1024 * 1024;
/** grpc-go announces nothing, not even that it refuses pushes. */
const greeting = clientGreeting({ settings: [], windowBytes: 0 });

export type Session = {
  /** The outcome of the call, with which the connection is closed. Never rejects. */
  readonly outcome: Promise<CallOutcome>;
};

export type SessionOptions = {
  readonly clock: Clock;
  /** The deadline for SETTINGS, on the clock's monotonic time. */
  readonly untilMs: number;
  readonly call: Call;
  readonly attempt: CallAttempt;
};

/**
 * Resolves once the server has sent its SETTINGS; only then does grpc-go consider a connection ready. Resolves with
 * undefined if the peer closes the connection, violates the protocol or is too late.
 */
export function openSession(
  socket: Socket,
  { clock, untilMs, call, attempt }: SessionOptions,
): Promise<Session | undefined> {
  return new Promise((resolve) => {
    let isSettled = false;
    const settle = (session?: Session) => {
      cancel();
      isSettled = true;
      if (session === undefined) connection.close();
      resolve(session);
    };
    const state = new CallState(clock, {
      write: (frames) => connection.write(frames),
      whenQuiet: (act) => connection.whenQuiet(act),
      isReady: () => isSettled,
      greeted: () => {
        if (isSettled) return;
        settle({ outcome: state.check(call, attempt) });
      },
      lost: () => {
        if (!isSettled) settle();
      },
      // An eager request leaves in any case, as grpc-go's does.
      over: () => (attempt.isEager ? connection.close() : connection.drop()),
    });
    const connection: Http2Connection = connectHttp2(socket, state, {
      frameBytesMax,
      listBytesMax: headerListBytesMax,
      isWanted: isGrpcField,
      // Only the texts of failures can be this long, and they are truncated anyway.
      reserve: () => false,
      onField: (field) => state.field(field),
    });
    const cancel = clock.setTimer(Math.max(0, untilMs - clock.monotonicMs()), () =>
      afterArrivals(clock, () => {
        if (!isSettled) settle();
      }),
    );
    if (socket.destroyed) settle();
    else connection.write(greeting);
  });
}
