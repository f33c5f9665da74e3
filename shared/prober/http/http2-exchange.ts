/**
 * One GET over HTTP/2, on a TLS socket that negotiated it. It is as lenient and as strict as Go's client, which kubelet
 * uses: what ends the stream before its header block is a failure, what ends it in the body a prober error. Source:
 * golang.org/x/net, http2/transport.go.
 */

import {
  beforeSettings,
  type ConnectionEvents,
  clientGreeting,
  connectHttp2,
  type Http2Connection,
  type Lost,
  lostText,
  settingsAck,
} from '../../http2/connection.ts';
import { type ConnectionFault, errorCode, errorName, fault } from '../../http2/frames.ts';
import type { Block } from '../../http2/header-block.ts';
import type { Data, GoAway, Malformed, Reset, WindowUpdate } from '../../http2/inbound.ts';
import { type Settings, settingId } from '../../http2/settings.ts';
import { afterArrivals } from '../../lib/clock.ts';
import type { Exchange, Exchanged } from './http-exchange.ts';
import { connectionWindowBytes, FlowControl, streamWindowBytes } from './http2-flow.ts';
import { refusedInHttp2, requestFrames, streamId } from './http2-request.ts';
import { headerListBytesMax, ResponseStream, unexpectedEnd } from './http2-response.ts';
import { sentHost } from './request.ts';

/** What Go's client announces. */
const frameBytesMax = 16 * 1024;

const greeting = clientGreeting({
  settings: [
    [settingId.enablePush, 0],
    [settingId.initialWindowSize, streamWindowBytes],
    [settingId.maxFrameSize, frameBytesMax],
    [settingId.maxHeaderListSize, headerListBytesMax],
  ],
  windowBytes: connectionWindowBytes,
});

export const exchangeHttp2: Exchange = (socket, request, options) => {
  const refusal = refusedInHttp2(request);
  const host = sentHost(request);
  const why = refusal ?? (host.kind === 'refused' ? `http2: ${host.message}` : undefined);
  if (why !== undefined || host.kind === 'refused') {
    socket.destroy();
    return Promise.resolve({ kind: 'failed', failureClass: 'HTTP_PROTOCOL', message: why ?? '' });
  }
  return new Promise((resolve) => {
    const stream = new ResponseStream(options);
    const settle = (outcome: Exchanged | undefined) => {
      if (outcome === undefined) return;
      connection.close();
      resolve(outcome);
    };
    const frames = new ServerFrames(stream, {
      write: (bytes) => connection.write(bytes),
      settle,
      soon: (act) => void options.clock.setTimer(0, () => connection.whenTaken(act)),
      // What has arrived by then is read first, also by a process that was busy until then.
      later: (act) => void options.clock.setTimer(acknowledgedAfterMs, () => afterArrivals(options.clock, act)),
    });
    const connection: Http2Connection = connectHttp2(socket, frames, {
      frameBytesMax,
      listBytesMax: headerListBytesMax,
      isWanted: (name) => name === 'location' || name === 'content-length',
      reserve: (bytes) => stream.reserve(bytes),
      onField: (field) => stream.field(field),
      health: { clock: options.clock, untilMs: options.deadline.atMs },
    });
    options.deadline.whenOver(() => settle(stream.late()));
    // If the peer closed the socket before the connection listened to it, no event comes.
    if (socket.destroyed) settle(stream.broken('EOF'));
    else connection.write(Buffer.concat([greeting, ...requestFrames(request, host.host)]));
  });
};

/** No server waits for the acknowledgement of its SETTINGS before it answers. */
const acknowledgedAfterMs = 20;
/** More than any server sends in that time. */
const unacknowledgedMax = 64;

type FramePorts = {
  readonly write: (frames: Uint8Array) => void;
  /** Ends the exchange, if there is an outcome. */
  readonly settle: (outcome: Exchanged | undefined) => void;
  /** Calls back once all bytes that have already arrived are read. */
  readonly soon: (act: () => void) => void;
  readonly later: (act: () => void) => void;
};

/**
 * What the server's frames mean for the connection and the stream. A method returns the fault that ends the connection,
 * if any.
 */
class ServerFrames implements ConnectionEvents {
  readonly #stream: ResponseStream;
  readonly #ports: FramePorts;
  readonly #flow: FlowControl;
  /** SETTINGS have arrived. */
  #isGreeted = false;
  #isAcknowledged = false;
  /** SETTINGS that are not acknowledged yet. */
  #unacknowledged = 0;
  /** The server has reset the stream before its headers. */
  #isReset = false;
  /** Ends the exchange after the server has abandoned the stream before its headers. */
  #endGivenUp: (() => void) | undefined;
  /** The code of the first GOAWAY that named an error, otherwise of the last one. */
  #goAwayCode: number = errorCode.noError;

  constructor(stream: ResponseStream, ports: FramePorts) {
    this.#stream = stream;
    this.#ports = ports;
    this.#flow = new FlowControl(ports.write);
  }

  settings({ forbidden, initialWindowBytes }: Settings): ConnectionFault | undefined {
    this.#isGreeted = true;
    if (forbidden)
      return fault(forbidden === 'window' ? errorCode.flowControl : errorCode.protocol, 'a setting out of range');
    if (initialWindowBytes !== undefined) this.#flow.announced(initialWindowBytes);
    this.#acknowledgeSoon();
    return undefined;
  }

  /**
   * A server may answer and close at once. A write would fail then and take with it what has arrived but is not read,
   * so the answer is waited for. Go's client reads on after a failed write.
   */
  #acknowledgeSoon(): void {
    this.#unacknowledged += 1;
    if (this.#unacknowledged === 1) this.#ports.later(() => this.#acknowledge());
    else if (this.#unacknowledged === unacknowledgedMax) this.#acknowledge();
  }

  #acknowledge(): void {
    if (this.#unacknowledged === 0) return;
    this.#ports.write(Buffer.concat(Array.from({ length: this.#unacknowledged }, () => settingsAck)));
    this.#unacknowledged = 0;
  }

  settingsAck(): ConnectionFault | undefined {
    this.#isGreeted = true;
    if (this.#isAcknowledged) return fault(errorCode.protocol, 'SETTINGS acknowledged twice');
    this.#isAcknowledged = true;
    return undefined;
  }

  headers(block: Block): ConnectionFault | undefined {
    if (!this.#isGreeted) return beforeSettings;
    if (block.streamId !== streamId) return undefined;
    const next = this.#stream.headers(block);
    if (next !== undefined && 'code' in next) return next;
    const isBroken = next === undefined && this.#isReset && this.#stream.takesData();
    this.#settle(isBroken ? this.#stream.broken('stream error: received from peer') : next);
    return undefined;
  }

  data(data: Data): ConnectionFault | undefined {
    if (!this.#isGreeted) return beforeSettings;
    if (data.streamId !== streamId) return this.#dataOfOtherStream(data);
    if (!this.#stream.takesData()) return this.#broken('protocol error: received DATA before a HEADERS frame');
    if (!this.#flow.arrived(data.payloadBytes)) return overflow;
    this.#ports.settle(this.#stream.data(data));
    this.#flow.refund(data.payloadBytes - data.data.length, 'both');
    return undefined;
  }

  #dataOfOtherStream(data: Data): ConnectionFault | undefined {
    if (data.streamId > streamId + 1) return fault(errorCode.protocol, 'DATA of a stream that was never opened');
    this.#flow.refund(data.payloadBytes, 'connection');
    return undefined;
  }

  windowUpdate({ streamId: of, increment }: WindowUpdate): ConnectionFault | undefined {
    if (!this.#isGreeted) return beforeSettings;
    if (of === 0) return this.#flow.widenConnection(increment) ? undefined : overflow;
    if (of !== streamId || this.#flow.widenStream(increment)) return undefined;
    return this.#broken('FLOW_CONTROL_ERROR');
  }

  goAway({ lastStreamId, code }: GoAway): ConnectionFault | undefined {
    if (!this.#isGreeted) return beforeSettings;
    if (this.#goAwayCode === errorCode.noError) this.#goAwayCode = code;
    const why = `http2: Transport received GOAWAY from server ErrCode:${errorName(this.#goAwayCode)}`;
    if (lastStreamId < streamId) this.#giveUp(why, this.#goAwayCode === errorCode.noError);
    return undefined;
  }

  reset({ streamId: of, code }: Reset): ConnectionFault | undefined {
    if (!this.#isGreeted) return beforeSettings;
    if (of !== streamId) return undefined;
    const why = `stream error: stream ID ${of}; ${errorName(code)}; received from peer`;
    if (this.#stream.takesData()) this.#broken(why);
    else this.#giveUp(why, code === errorCode.refusedStream || code === errorCode.protocol);
    this.#isReset = true;
    return undefined;
  }

  /**
   * The server abandons the stream before its headers. Go's client continues to read while it closes the stream, so
   * headers that have already arrived still count. What happens to the connection meanwhile does not.
   */
  #giveUp(why: string, isRetried: boolean): void {
    if (this.#endGivenUp) return;
    this.#endGivenUp = () => this.#ports.settle(this.#stream.broken(why, { isRetried }));
    this.#ports.soon(this.#endGivenUp);
  }

  /** Go does not check here whether SETTINGS came first. */
  malformed({ streamId: of, message }: Malformed): undefined {
    if (of === streamId) this.#broken(`stream error: stream ID ${of}; ${message}`);
  }

  pushPromise(): ConnectionFault {
    return refusedPush;
  }

  other(): ConnectionFault | undefined {
    return this.#isGreeted ? undefined : beforeSettings;
  }

  pinged(): ConnectionFault | undefined {
    return this.other();
  }

  lost(why: Lost): void {
    this.#settle(this.#stream.broken(lostText(why, unexpectedEnd), { failureClass: classOf(why) }));
  }

  /** Ends the exchange without a fault of the connection. */
  #broken(why: string): undefined {
    this.#settle(this.#stream.broken(why));
  }

  /** Of a stream that the server has abandoned, only a response counts: another failure comes too late. */
  #settle(outcome: Exchanged | undefined): void {
    if (outcome?.kind === 'failed' && this.#endGivenUp) this.#endGivenUp();
    else this.#ports.settle(outcome);
  }
}

function classOf({ kind }: Lost): 'CONNECT_RESET' | 'HTTP_PROTOCOL' | 'TIMEOUT' {
  if (kind === 'silent') return 'TIMEOUT';
  return kind === 'socket' ? 'CONNECT_RESET' : 'HTTP_PROTOCOL';
}

const refusedPush = fault(errorCode.protocol, 'a push that was refused');
const overflow = fault(errorCode.flowControl, 'more than the window');
