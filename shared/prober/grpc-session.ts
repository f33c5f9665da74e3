/**
 * One HTTP/2 connection with prior knowledge over a dialed socket, for one call. Two waits, each until it is decided or the deadline is
 * over; afterwards the socket is gone, whatever happened. Source: grpc-go, internal/transport/http2_client.go.
 */
import type { Socket } from 'node:net';
import {
  type ConnectionEvents,
  clientGreeting,
  connectHttp2,
  type Http2Connection,
  type Lost,
  settingsAck,
  windowUpdate,
} from '../http2/connection.ts';
import { type ConnectionFault, errorCode, errorName, fault } from '../http2/frames.ts';
import { receiveWindow } from '../http2/receive-window.ts';
import { settingId } from '../http2/settings.ts';
import type { Clock } from '../lib/clock.ts';
import { encodeCheckRequest, encodeTimeout } from './grpc-codec.ts';
import { isGrpcField } from './grpc-headers.ts';
import type { RpcResult } from './grpc-reply.ts';
import { type Sending, sending } from './grpc-send.ts';
import { drained, lostStatus, type RpcStatus, resetStatus, rpcCode, rpcStatus } from './grpc-status.ts';
import { type CallStream, callStream } from './grpc-stream.ts';

const checkPath = '/grpc.health.v1.Health/Check';
const streamId = 1;
/** grpc-go's limits. */
const frameBytesMax = 16 * 1024;
const headerListBytesMax = 16 * 1024 * 1024;
/** Of the connection; grpc-go never asks whether a server keeps to it. */
const windowBytes = 65_535;

const greeting = clientGreeting({ settings: [[settingId.enablePush, 0]], windowBytes: 0 });

export type Session = {
  /** The call. Never rejects. */
  readonly outcome: Promise<CallOutcome>;
  /** Idempotent. Whoever opened a session closes it. */
  readonly close: () => void;
};

export type Call = {
  readonly authority: string;
  readonly service: string;
  readonly userAgent: string;
  readonly deadlineMs: number;
};

export type CallOutcome = {
  readonly result: RpcResult;
  /** The server says that it did not begin: grpc-go asks once more. */
  readonly unprocessed: boolean;
  /** From the request to the first header block. */
  readonly firstByteMs?: number;
};

export type SessionOptions = {
  readonly clock: Clock;
  /** When to give up waiting for SETTINGS, on the clock's monotonic time. */
  readonly untilMs: number;
  readonly call: Call;
  /** The request leaves before anything is read that came with the SETTINGS; else after it. */
  readonly isEager: boolean;
};

/** Once the server has sent its SETTINGS, as grpc-go waits for them before a connection counts. Undefined: closed, foreign or too late. */
export function openSession(
  socket: Socket,
  { clock, untilMs, call, isEager }: SessionOptions,
): Promise<Session | undefined> {
  return new Promise((resolve) => {
    let isReady = false;
    const settle = (session?: Session) => {
      cancel();
      isReady = true;
      if (session === undefined) connection.close();
      resolve(session);
    };
    const state = sessionState(clock, {
      write: (frames) => connection.write(frames),
      whenQuiet: (act) => connection.whenQuiet(act),
    });
    const greeted = () => {
      if (isReady) return;
      const outcome = isEager ? state.check(call) : Promise.resolve().then(() => state.check(call));
      settle({ outcome, close: connection.close });
    };
    const connection = connectHttp2(
      socket,
      {
        ...state.events(() => isReady, greeted),
        lost: (lost) => {
          state.lost(lost);
          if (!isReady) settle();
        },
      },
      {
        frameBytesMax,
        listBytesMax: headerListBytesMax,
        isWanted: isGrpcField,
        // Only texts of failures can be that long, and they are cut anyway.
        reserve: () => false,
        onField: (field) => state.stream()?.field(field),
      },
    );
    const cancel = clock.setTimer(Math.max(0, untilMs - clock.monotonicMs()), () => settle());
    if (socket.destroyed) settle();
    else connection.write(greeting);
  });
}

/** A call that is not decided yet. */
type Running = {
  readonly stream: CallStream;
  readonly settle: (result: RpcResult | undefined, unprocessed?: boolean) => void;
  readonly sawHeaders: () => void;
};

type Wire = Pick<Http2Connection, 'write' | 'whenQuiet'>;

function sessionState(clock: Clock, { write, whenQuiet }: Wire) {
  const request: Sending = sending(write);
  let running: Running | undefined;
  let isGrantComing = false;
  const connectionWindow = receiveWindow(windowBytes);
  /** No call may begin any more. */
  let isOver = false;
  let goneAwayId: number | undefined;

  const check = (call: Call): Promise<CallOutcome> => {
    // A server may greet and say goodbye in one breath.
    if (isOver) return Promise.resolve({ result: lostStatus('EOF'), unprocessed: true });
    const startMs = clock.monotonicMs();
    const remainingMs = Math.max(0, call.deadlineMs - startMs);
    let firstByteMs: number | undefined;
    return new Promise((resolve) => {
      const settle = (result: RpcResult | undefined, unprocessed = false) => {
        if (result === undefined || running === undefined) return;
        running = undefined;
        cancel();
        resolve({ result, unprocessed, ...(firstByteMs !== undefined && { firstByteMs }) });
      };
      const sawHeaders = () => {
        firstByteMs ??= clock.monotonicMs() - startMs;
      };
      running = { stream: callStream(), settle, sawHeaders };
      const cancel = clock.setTimer(remainingMs, () => settle(deadlineExceeded));
      const trouble = request.begin({
        streamId,
        fields: requestFields(call, remainingMs),
        body: encodeCheckRequest(call.service),
      });
      if (trouble !== undefined) settle(rpcStatus(rpcCode.internal, trouble));
    });
  };

  /** The call, if `of` is its stream and the server can know of it. */
  const callOf = (of: number): Running | undefined => (of === streamId && request.isBegun() ? running : undefined);
  const fail = (of: number, status: RpcStatus, unprocessed = false) => {
    const call = callOf(of);
    call?.settle(call.stream.fail(status), unprocessed);
    return undefined;
  };

  const goAway = ({ lastStreamId }: { readonly lastStreamId: number }): ConnectionFault | undefined => {
    if (lastStreamId > 0 && lastStreamId % 2 === 0)
      return fault(errorCode.protocol, 'GOAWAY with an even stream number');
    if (goneAwayId !== undefined && lastStreamId > goneAwayId)
      return fault(errorCode.protocol, 'GOAWAY with a higher stream number than before');
    isOver = true;
    goneAwayId = lastStreamId;
    if (running === undefined) return fault(errorCode.noError, 'GOAWAY before any call');
    if (lastStreamId < streamId) running.settle(running.stream.fail(drained), true);
    return undefined;
  };

  const grant = (of: number, bytes: number) => {
    if (bytes > 0) write(windowUpdate(of, bytes));
  };

  /** Once nothing more arrives: what a server sends before it has the window is not covered by it. */
  const grantSoon = (call: Running) => {
    if (isGrantComing) return;
    isGrantComing = true;
    whenQuiet(() => {
      isGrantComing = false;
      if (running === call && call.stream.isGrantDue()) grant(streamId, call.stream.grant());
    });
  };

  /** A connection counts once SETTINGS came, as its first frame. */
  const events = (isGreeted: () => boolean, greeted: () => void): Omit<ConnectionEvents, 'lost'> => {
    const after =
      <What extends readonly unknown[]>(act: (...what: What) => ConnectionFault | undefined) =>
      (...what: What) =>
        isGreeted() ? act(...what) : fault(errorCode.protocol, 'a frame before SETTINGS');
    return {
      settings: (settings) => {
        write(settingsAck);
        request.settings(settings);
        greeted();
        return undefined;
      },
      settingsAck: () => void greeted(),
      headers: after((block) => {
        const call = callOf(block.streamId);
        call?.sawHeaders();
        call?.settle(call.stream.headers(block));
        return undefined;
      }),
      data: after((received) => {
        const call = callOf(received.streamId);
        call?.settle(call.stream.data(received));
        connectionWindow.arrived(received.payloadBytes);
        grant(0, connectionWindow.read(received.payloadBytes));
        if (call && running === call && call.stream.isGrantDue()) grantSoon(call);
        return undefined;
      }),
      reset: after(({ streamId: of, code }) => fail(of, resetStatus(code), code === errorCode.refusedStream)),
      goAway: after(goAway),
      windowUpdate: after(({ streamId: of, increment }) => void request.widen(of, increment)),
      pushPromise: after(() => undefined),
      other: after(() => undefined),
      pinged: after(() => undefined),
      malformed: after(({ streamId: of, message }) => fail(of, rpcStatus(rpcCode.internal, message))),
      // It is read at once and not kept.
      dataWanted: () => frameBytesMax,
    };
  };
  return {
    check,
    events,
    stream: () => running?.stream,
    lost: (lost: Lost) => {
      isOver = true;
      running?.settle(running.stream.fail(lostStatus(lostText(lost))));
    },
  };
}

const deadlineExceeded = rpcStatus(rpcCode.deadlineExceeded, 'context deadline exceeded');

function lostText(lost: Lost): string {
  if (lost.kind === 'ended') return 'EOF';
  if (lost.kind === 'socket') return `read: ${lost.error.code ?? lost.error.message}`;
  return `connection error: ${errorName(lost.fault.code)}: ${lost.fault.message}`;
}

const requestFields = ({ authority, userAgent }: Call, remainingMs: number) =>
  [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', checkPath],
    [':authority', authority],
    ['content-type', 'application/grpc'],
    ['user-agent', userAgent],
    ['te', 'trailers'],
    ['grpc-timeout', encodeTimeout(remainingMs)],
  ] as const;
