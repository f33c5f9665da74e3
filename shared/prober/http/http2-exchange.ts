/**
 * One GET over HTTP/2, on a TLS socket that negotiated it. It is as lenient and as strict as Go's client, which kubelet
 * uses: what ends the stream before its header block is a failure, what ends it in the body a prober error.
 *
 * The order of frames does not suffice to decide. Go's client reads on while it closes a stream that the server has
 * abandoned, so a header block that has already arrived still counts; and a write to a server that has answered and
 * closed would fail and take with it what is not read yet. So an abandoned stream ends only after what is here has been
 * read, and SETTINGS are acknowledged a little later. `ServerFrames` has the connection, `ResponseStream` the response,
 * `FlowControl` the windows. Source: golang.org/x/net, http2/transport.go.
 */
import { atoi } from '../../core/go/text.ts';
import type { Head } from '../../http1/head.ts';
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
import { type ConnectionFault, errorCode, errorName, fault } from '../../http2/frames.ts';
import type { Block } from '../../http2/header-block.ts';
import type { Field } from '../../http2/hpack-table.ts';
import type { Data, GoAway, Malformed, Reset, WindowUpdate } from '../../http2/inbound.ts';
import { type Settings, settingId, windowBytesMax } from '../../http2/settings.ts';
import { afterArrivals } from '../../lib/clock.ts';
import { gathered } from '../../lib/gathered.ts';
import { awaitingHeadTimeout } from '../deadline.ts';
import { keptMessage } from '../kept-memory.ts';
import { type Exchange, type Exchanged, type ExchangeOptions, readingBodyTimeout } from './http-exchange.ts';
import { refusedInHttp2, requestFrames, sentHost, streamId } from './request.ts';

/** What Go's client grants for the stream, and for the connection beyond the initial window. */
const streamWindowBytes = 4 * 1024 * 1024;
const connectionWindowBytes = 1024 * 1024 * 1024;
/** Go's limit for a response's header list. */
const headerListBytesMax = 10 * 1024 * 1024;
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

// The response of an HTTPS probe over HTTP/2, from its first frame to the one that decides the exchange. Source:
// golang.org/x/net, http2/transport.go.

type Breaking = {
  readonly failureClass?: 'HTTP_PROTOCOL' | 'CONNECT_RESET' | 'TIMEOUT';
  /** Go repeats the request on another connection. */
  readonly isRetried?: boolean;
};

/** Methods that return `Exchanged` return undefined while the exchange continues. */
export class ResponseStream {
  readonly #options: ExchangeOptions;
  readonly #startMs: number;
  #head: Head | undefined;
  #firstByteMs: number | undefined;
  #fields: Wanted = noFields;
  #informationalBytes = 0;
  #wantedBytes = 0;
  #bodyBytes = 0;
  #body = gathered(0);
  /** There was no memory for the fields of the response. */
  #isTooMuch = false;

  /** The request is sent now. */
  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#startMs = options.clock.monotonicMs();
  }

  /** Returns whether the fields of the response may take this many more bytes. */
  reserve(bytes: number): boolean {
    this.#isTooMuch ||= !this.#options.reserve(bytes);
    return !this.#isTooMuch;
  }

  field({ name, value = '' }: Field): void {
    const { lengths } = this.#fields;
    this.#fields =
      name === 'location'
        ? { location: value, ...this.#fields }
        : { ...this.#fields, lengths: [...lengths, value].slice(0, 2) };
  }

  headers(block: Block): Exchanged | ConnectionFault | undefined {
    this.#firstByteMs ??= this.#options.clock.monotonicMs() - this.#startMs;
    const next = this.#head === undefined ? this.#begin(block) : this.#takeTrailers(block);
    this.#fields = noFields;
    return next;
  }

  takesData(): boolean {
    return this.#head !== undefined;
  }

  data({ data, endStream }: Data): Exchanged | undefined {
    this.#body.add(data);
    this.#bodyBytes += data.length;
    const length = this.#lengthBytes();
    const isFull = this.#bodyBytes >= this.#wantedBytes && (length === undefined || length >= this.#wantedBytes);
    if (isFull) return this.#response();
    if (length !== undefined && this.#bodyBytes > length) return this.#response(tooLong);
    if (endStream) return this.#ended();
    this.#body.keep();
    return undefined;
  }

  /** The stream or the connection broke. */
  broken(message: string, { failureClass = 'HTTP_PROTOCOL', isRetried = false }: Breaking = {}): Exchanged {
    if (this.#head) return this.#response(message);
    return { kind: 'failed', failureClass, message, isRetried };
  }

  /** The deadline has passed. */
  late(): Exchanged {
    if (this.#head) return this.#response(readingBodyTimeout);
    return { kind: 'failed', failureClass: 'TIMEOUT', message: awaitingHeadTimeout };
  }

  #begin(block: Block): Exchanged | undefined {
    const status = statusOf(block);
    if (typeof status === 'string') return this.broken(status);
    if (status >= 100 && status <= 199) return this.#takeInformational(block);
    if (this.#isTooMuch) return unkept;
    const { location = '' } = this.#fields;
    const length = contentLength(this.#fields, block.endStream);
    this.#head = { status, location, framing: length === undefined ? closed : { kind: 'length', bytes: length } };
    this.#wantedBytes = this.#options.bodyBytesMax(this.#head);
    this.#body = gathered(this.#wantedBytes);
    if (this.#wantedBytes === 0) return this.#response();
    return block.endStream ? this.#ended() : undefined;
  }

  #takeInformational(block: Block): Exchanged | undefined {
    this.#informationalBytes += block.listBytes;
    if (block.endStream) return this.broken('1xx informational response with END_STREAM flag');
    return this.#informationalBytes > headerListBytesMax ? this.broken('header list too large') : undefined;
  }

  /** Trailers end the stream. Any other header block after the head ends the connection. */
  #takeTrailers({ endStream, pseudo }: Block): Exchanged | ConnectionFault {
    if (!endStream || pseudo.size > 0) return fault(errorCode.protocol, 'a header block within the body');
    return this.#ended();
  }

  /** The body is complete; it may be shorter than declared. */
  #ended(): Exchanged {
    const length = this.#lengthBytes();
    return this.#response(length !== undefined && this.#bodyBytes < length ? unexpectedEnd : undefined);
  }

  #lengthBytes(): number | undefined {
    return this.#head?.framing.kind === 'length' ? this.#head.framing.bytes : undefined;
  }

  #response(bodyError?: string): Exchanged {
    const { status, location } = this.#head ?? { status: 0, location: '' };
    const response = { status, location, body: this.#body.bytes(), bodyError };
    return { kind: 'response', firstByteMs: this.#firstByteMs ?? 0, response };
  }
}

const unkept: Exchanged = { kind: 'failed', failureClass: 'PROBER', message: keptMessage };

const closed: Head['framing'] = { kind: 'close' };
export const unexpectedEnd = 'unexpected EOF';
const tooLong = 'net/http: server replied with more than declared Content-Length; truncated';

/** The fields of one block that matter: the first location, and up to two lengths, because two count as none. */
type Wanted = { readonly location?: string; readonly lengths: readonly string[] };
const noFields: Wanted = { lengths: [] };

/** Returns the status, or what is wrong with the header block. */
function statusOf({ pseudo, isTruncated }: Block): number | string {
  if (isTruncated) return 'http2: response header list larger than advertised limit';
  const status = pseudo.get(':status') ?? '';
  if (status === '') return 'malformed response from server: missing status pseudo header';
  const parsed = atoi(status);
  return parsed.kind === 'integer'
    ? parsed.value
    : 'malformed response from server: malformed non-numeric status pseudo header';
}

const lengthMax = 2n ** 63n - 1n;
const digits = /^\d{1,4096}$/;

/** Go accepts a length only if there is exactly one such field and its value is a number. */
function contentLength({ lengths }: Wanted, isEnded: boolean): number | undefined {
  const [only, more] = lengths;
  if (only === undefined) return isEnded ? 0 : undefined;
  const isLength = more === undefined && digits.test(only) && BigInt(only) <= lengthMax;
  return isLength ? Number(only) : undefined;
}

// Flow control of one GET on a connection of its own (RFC 9113, section 5.2), with the windows of Go's client.

/** The windows before either side has announced others. */
const initialWindowBytes = 65_535;
/** Refunds are sent once they amount to this. */
const refundBytes = 64 * 1024;

export class FlowControl {
  readonly #write: (frames: Uint8Array) => void;
  /** What this side may send. It sends no data, since the request has no body, but a window must not overflow. */
  #connectionSend = initialWindowBytes;
  #streamSend = initialWindowBytes;
  #peerInitialWindow = initialWindowBytes;
  /** What the peer may send. */
  #connectionReceive = connectionWindowBytes + initialWindowBytes;
  #streamReceive = streamWindowBytes;
  #unrefundedBytes = 0;

  /** `write` receives complete frames. */
  constructor(write: (frames: Uint8Array) => void) {
    this.#write = write;
  }

  /** The peer announced the initial window of its streams. */
  announced(windowBytes: number): void {
    this.#streamSend += windowBytes - this.#peerInitialWindow;
    this.#peerInitialWindow = windowBytes;
  }

  /** The peer widens the window of the stream. Returns false if it becomes too large. */
  widenStream(bytes: number): boolean {
    this.#streamSend += bytes;
    return this.#streamSend <= windowBytesMax;
  }

  /** The peer widens the window of the connection. Returns false if it becomes too large. */
  widenConnection(bytes: number): boolean {
    this.#connectionSend += bytes;
    return this.#connectionSend <= windowBytesMax;
  }

  /** Records a payload on the stream. Returns false if it exceeds a window. */
  arrived(bytes: number): boolean {
    this.#connectionReceive -= bytes;
    this.#streamReceive -= bytes;
    return this.#connectionReceive >= 0 && this.#streamReceive >= 0;
  }

  /** Grants bytes again, a few only together with later ones. `connection`: they are not of the stream. */
  refund(bytes: number, to: 'both' | 'connection'): void {
    this.#unrefundedBytes += bytes;
    if (this.#unrefundedBytes < refundBytes) return;
    this.#write(windowUpdate(0, this.#unrefundedBytes));
    this.#connectionReceive += this.#unrefundedBytes;
    if (to === 'both') {
      this.#write(windowUpdate(streamId, this.#unrefundedBytes));
      this.#streamReceive += this.#unrefundedBytes;
    }
    this.#unrefundedBytes = 0;
  }
}
