/**
 * One HTTP/2 connection with prior knowledge, for one call.
 *
 * A call looks like a request and an answer, but grpc-go decides more on the way. A connection is ready only once the
 * server's SETTINGS are here, and the request leaves after all that came with them. A failure does not end the call at
 * once: grpc-go reads on before it ends the call, and a GOAWAY or REFUSED_STREAM behind the failure says that the
 * server has not begun, so that the call is repeated. A window is granted only after everything that is here has been
 * read, because a server that sends more than its window must not find a wider one.
 *
 * So `CallState` keeps the call apart from its failure, `taken` decides once what arrived together is read, and
 * `whenQuiet` delays what must wait for a turn without arrivals. Source: internal/transport/http2_client.go.
 */
import type { Socket } from 'node:net';
import {
  beforeSettings,
  type ConnectionEvents,
  clientGreeting,
  connectHttp2,
  type Http2Connection,
  type Lost,
  lostText,
  settingsAck,
  windowUpdate,
} from '../../http2/connection.ts';
import { type ConnectionFault, errorCode, fault } from '../../http2/frames.ts';
import type { Block } from '../../http2/header-block.ts';
import type { Field } from '../../http2/hpack-table.ts';
import type { Data, GoAway, Malformed, Reset, WindowUpdate } from '../../http2/inbound.ts';
import { receiveWindow } from '../../http2/receive-window.ts';
import type { Settings } from '../../http2/settings.ts';
import { afterArrivals, type Clock } from '../../lib/clock.ts';
import { encodeCheckRequest, encodeTimeout } from './codec.ts';
import type { RpcResult } from './reply.ts';
import { type Sending, sending } from './send.ts';
import { drained, lostStatus, type RpcStatus, resetStatus, rpcCode, rpcStatus } from './status.ts';
import { type CallStream, callStream, isGrpcField } from './stream.ts';

/** The streams of a connection: of the call, and of its repetition. */
const firstStreamId = 1;
const secondStreamId = 3;
/** The window of the connection. grpc-go does not check whether a server respects it. */
const windowBytes = 65_535;
/** grpc-go's limit, which this client does not announce because it is the initial value. */
export const frameBytesMax = 16 * 1024;

export type CallAttempt = {
  /** Begins the call before the bytes that arrived together with the SETTINGS are read; otherwise after them. */
  readonly isEager: boolean;
  /** Not a repetition, so a server that has not begun with the call gets it again. */
  readonly isFirst: boolean;
};

export type CallOutcome = {
  readonly result: RpcResult;
  /** The call is repeated on another connection: its request did not leave, or the server did not begin with it. */
  readonly isRepeated: boolean;
  /** The time from the request to the first header block. */
  readonly firstByteMs: number | undefined;
};

/** A call without an outcome. */
type Running = {
  readonly call: Call;
  readonly streamId: number;
  readonly stream: CallStream;
  readonly startMs: number;
  readonly resolve: (outcome: CallOutcome) => void;
  readonly cancelTimer: () => void;
  firstByteMs: number | undefined;
};

/** A call that has failed, while what arrived with the failure is read. */
type Failed = {
  readonly running: Running;
  readonly result: RpcResult;
  /** The server says that it has not begun to process the call. */
  unprocessed: boolean;
  isRepeatComing?: true;
};

/** `write` receives complete frames. */
export type CallPorts = Pick<Http2Connection, 'write' | 'whenQuiet'> & {
  /** Whether the server's SETTINGS have arrived. Any other frame before them is a fault. */
  readonly isReady: () => boolean;
  readonly greeted: () => void;
  readonly lost: () => void;
  /** The call has its outcome, so that nothing more needs to be sent. */
  readonly over: () => void;
};

/** The state of a connection for one call, and what the frames of the server do to it. */
export class CallState implements ConnectionEvents {
  readonly #clock: Clock;
  readonly #ports: CallPorts;
  readonly #request: Sending;
  readonly #connectionWindow = receiveWindow(windowBytes);
  #running: Running | undefined;
  /**
   * grpc-go reads on before the call learns of its failure, so a GOAWAY behind it still decides whether the call is
   * repeated.
   */
  #failed: Failed | undefined;
  /** The call may be repeated, which grpc-go does once. */
  #isFirst = true;
  #isGrantComing = false;
  /** Begins the call once all that arrived with the SETTINGS is read. */
  #beginLater: (() => void) | undefined;
  /** No further call may begin. */
  #isOver = false;
  #goneAwayId: number | undefined;

  constructor(clock: Clock, ports: CallPorts) {
    this.#clock = clock;
    this.#ports = ports;
    this.#request = sending(ports.write);
  }

  /** Begins the call: once all that arrived with the SETTINGS is read or, if `isEager`, now. Never rejects. */
  check(call: Call, { isEager, isFirst }: CallAttempt): Promise<CallOutcome> {
    this.#isFirst = isFirst;
    return new Promise((resolve) => {
      if (isEager) this.#begin(call, firstStreamId, resolve);
      else this.#beginLater = () => this.#begin(call, firstStreamId, resolve);
    });
  }

  /** Takes a field of the header block that is arriving. */
  field(field: Field): void {
    this.#running?.stream.field(field);
  }

  taken(): void {
    const begin = this.#beginLater;
    this.#beginLater = undefined;
    begin?.();
    const failed = this.#failed;
    if (failed === undefined) return;
    const isRepeated = failed.unprocessed && this.#isFirst;
    if (isRepeated && !this.#isOver) this.#repeatSoon(failed);
    else {
      this.#failed = undefined;
      this.#end(failed.running, failed.result, isRepeated);
    }
  }

  /** On the same connection, as grpc-go does unless it has seen that the server leaves. */
  #repeatSoon(failed: Failed): void {
    if (failed.isRepeatComing) return;
    failed.isRepeatComing = true;
    this.#ports.whenQuiet(() => {
      if (this.#failed !== failed) return;
      const { call, cancelTimer, resolve } = failed.running;
      this.#failed = undefined;
      this.#isFirst = false;
      cancelTimer();
      this.#begin(call, secondStreamId, resolve);
      this.taken();
    });
  }

  #begin(call: Call, streamId: number, resolve: Running['resolve']): void {
    // A server may send SETTINGS and GOAWAY together.
    if (this.#isOver) {
      resolve({ result: lostStatus('EOF'), isRepeated: true, firstByteMs: undefined });
      return;
    }
    const startMs = this.#clock.monotonicMs();
    const remainingMs = Math.max(0, call.deadlineMs - startMs);
    const cancelTimer = this.#clock.setTimer(remainingMs, () => afterArrivals(this.#clock, () => this.#late()));
    this.#running = { call, streamId, stream: callStream(), startMs, resolve, cancelTimer, firstByteMs: undefined };
    const problem = this.#request.begin({
      streamId,
      fields: requestFields(call, remainingMs),
      body: encodeCheckRequest(call.service),
    });
    if (problem !== undefined) this.#settle(rpcStatus(rpcCode.internal, problem));
  }

  /** Ends the call, if there is a result: at once, but with a failure only when what arrived with it is read. */
  #settle(result: RpcResult | undefined, unprocessed = false): void {
    const running = this.#running;
    if (result === undefined || running === undefined) return;
    this.#running = undefined;
    if (result.kind === 'answered') this.#end(running, result);
    else this.#failed = { running, result, unprocessed };
  }

  #late(): void {
    this.#settle(deadlineExceeded);
    this.taken();
  }

  #end({ cancelTimer, firstByteMs, resolve }: Running, result: RpcResult, isRepeated = false): void {
    cancelTimer();
    this.#ports.over();
    resolve({ result, isRepeated, firstByteMs });
  }

  /** Returns the call if `of` is its stream and its request has been sent. */
  #callOf(of: number): Running | undefined {
    return of === this.#running?.streamId && this.#request.isBegun() ? this.#running : undefined;
  }

  settings(settings: Settings): undefined {
    this.#ports.write(settingsAck);
    this.#request.settings(settings);
    this.#ports.greeted();
  }

  settingsAck(): undefined {
    this.#ports.greeted();
  }

  headers(block: Block): ConnectionFault | undefined {
    if (!this.#ports.isReady()) return beforeSettings;
    const call = this.#callOf(block.streamId);
    if (call === undefined) return undefined;
    call.firstByteMs ??= this.#clock.monotonicMs() - call.startMs;
    this.#settle(call.stream.headers(block));
    return undefined;
  }

  data(data: Data): ConnectionFault | undefined {
    if (!this.#ports.isReady()) return beforeSettings;
    const call = this.#callOf(data.streamId);
    if (call) this.#settle(call.stream.data(data));
    this.#connectionWindow.arrived(data.payloadBytes);
    this.#grant(0, this.#connectionWindow.read(data.payloadBytes));
    if (call && this.#running === call && call.stream.isGrantDue()) this.#grantSoon(call);
    return undefined;
  }

  windowUpdate({ streamId: of, increment }: WindowUpdate): ConnectionFault | undefined {
    if (!this.#ports.isReady()) return beforeSettings;
    this.#request.widen(of, increment);
    return undefined;
  }

  other(): ConnectionFault | undefined {
    return this.#ports.isReady() ? undefined : beforeSettings;
  }

  pushPromise(): ConnectionFault | undefined {
    return this.other();
  }

  pinged(): ConnectionFault | undefined {
    return this.other();
  }

  /** Waits until nothing more arrives, because a grant must not cover what the server has sent before it. */
  #grantSoon(call: Running): void {
    if (this.#isGrantComing) return;
    this.#isGrantComing = true;
    this.#ports.whenQuiet(() => {
      this.#isGrantComing = false;
      if (this.#running === call && call.stream.isGrantDue()) this.#grant(call.streamId, call.stream.grant());
    });
  }

  #grant(of: number, bytes: number): void {
    if (bytes > 0) this.#ports.write(windowUpdate(of, bytes));
  }

  reset({ streamId: of, code }: Reset): ConnectionFault | undefined {
    const isRefused = code === errorCode.refusedStream;
    if (isRefused && this.#failed?.running.streamId === of) this.#failed.unprocessed = true;
    return this.other() ?? this.#fail(of, resetStatus(code), isRefused);
  }

  malformed({ streamId: of, message }: Malformed): ConnectionFault | undefined {
    return this.other() ?? this.#fail(of, rpcStatus(rpcCode.internal, message));
  }

  #fail(of: number, status: RpcStatus, unprocessed = false): undefined {
    const call = this.#callOf(of);
    if (call) this.#settle(call.stream.fail(status), unprocessed);
  }

  goAway({ lastStreamId }: GoAway): ConnectionFault | undefined {
    if (!this.#ports.isReady()) return beforeSettings;
    // Faults by the protocol, but grpc-go ignores the frame.
    if (lastStreamId > 0 && lastStreamId % 2 === 0) return undefined;
    if (this.#goneAwayId !== undefined && lastStreamId > this.#goneAwayId) return undefined;
    this.#isOver = true;
    this.#goneAwayId = lastStreamId;
    const failed = this.#failed;
    const running = failed?.running ?? this.#running;
    if (running === undefined) return fault(errorCode.noError, 'GOAWAY before any call');
    if (lastStreamId >= running.streamId) return undefined;
    if (failed) failed.unprocessed = true;
    else this.#settle(running.stream.fail(drained), true);
    return undefined;
  }

  lost(why: Lost): void {
    this.#isOver = true;
    const running = this.#running;
    if (running) this.#settle(running.stream.fail(lostStatus(lostText(why, 'EOF'))));
    this.taken();
    this.#ports.lost();
  }
}

const deadlineExceeded = rpcStatus(rpcCode.deadlineExceeded, 'context deadline exceeded');

// One HTTP/2 connection with prior knowledge over a dialed socket, for one call. It waits for the server's SETTINGS and
// then for the outcome of the call, each until a deadline. Source: grpc-go, internal/transport/http2_client.go.

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

// The request of a health check, as grpc-go sends it.

const checkPath = '/grpc.health.v1.Health/Check';

export type Call = {
  readonly authority: string;
  readonly service: string;
  readonly userAgent: string;
  readonly deadlineMs: number;
};

/** The header fields, with the time that is left. */
export const requestFields = ({ authority, userAgent }: Call, remainingMs: number) =>
  [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', checkPath],
    [':authority', authority],
    ['content-type', 'application/grpc'],
    ['user-agent', userAgent],
    ['te', 'trailers'],
    // kubelet links a compressor, so grpc-go offers it.
    ['grpc-accept-encoding', 'gzip'],
    ['grpc-timeout', encodeTimeout(remainingMs)],
  ] as const;
