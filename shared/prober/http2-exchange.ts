/**
 * One GET over HTTP/2, on a TLS socket that negotiated it. It is as lenient and as strict as Go's client, which kubelet probes with:
 * what ends the stream before its header block is a failure, what ends it in the body an error. Source:
 * golang.org/x/net, http2/transport.go.
 */
import {
  type ConnectionEvents,
  clientGreeting,
  connectHttp2,
  type Lost,
  settingsAck,
  windowUpdate,
} from '../http2/connection.ts';
import { type ConnectionFault, errorCode, errorName, fault } from '../http2/frames.ts';
import type { Block } from '../http2/header-block.ts';
import type { Data } from '../http2/inbound-events.ts';
import { type Settings, settingId, windowBytesMax } from '../http2/settings.ts';
import type { Exchange, Exchanged } from './http-exchange.ts';
import { sentHost } from './http1-request.ts';
import { refusedInHttp2, requestFrames, streamId } from './http2-request.ts';
import { headerListBytesMax, type ResponseStream, responseStream, unexpectedEnd } from './http2-response.ts';

/** What Go's client announces and grants. */
const frameBytesMax = 16 * 1024;
const streamWindowBytes = 4 * 1024 * 1024;
const connectionWindowBytes = 1024 * 1024 * 1024;
/** Windows before anybody has said otherwise. */
const initialWindowBytes = 65_535;
/** Padding is given back to the peer's window once it comes to so much. */
const refundBytes = 64 * 1024;

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
    const startMs = options.clock.monotonicMs();
    const stream = responseStream(options, () => options.clock.monotonicMs() - startMs);
    const settle = (outcome: Exchanged | undefined) => {
      if (outcome === undefined) return;
      connection.close();
      resolve(outcome);
    };
    const connection = connectHttp2(
      socket,
      {
        ...eventsOf(stream, (frames) => connection.write(frames), {
          settle,
          soon: (act) => void options.clock.setTimer(0, () => connection.whenTaken(act)),
        }),
        lost: (lost) =>
          settle(stream.broken(lostText(lost), lost.kind === 'socket' ? { failureClass: 'CONNECT_RESET' } : {})),
      },
      {
        frameBytesMax,
        listBytesMax: headerListBytesMax,
        isWanted: (name) => name === 'location' || name === 'content-length',
        reserve: stream.reserve,
        onField: stream.field,
      },
    );
    options.deadline.whenOver(() => settle(stream.late()));
    // A peer can be gone before anybody listened for it; then no event would come.
    if (socket.destroyed) settle(stream.broken('EOF'));
    else connection.write(Buffer.concat([greeting, ...requestFrames(request, host.host)]));
  });
};

type Verdicts = {
  /** Ends the exchange, unless there is no outcome. */
  readonly settle: (outcome: Exchanged | undefined) => void;
  /** Once what has arrived already has been read. */
  readonly soon: (act: () => void) => void;
};

/** What the frames do to the connection; those of the stream go on to it. */
function eventsOf(
  stream: ResponseStream,
  write: (frames: Uint8Array) => void,
  { settle, soon }: Verdicts,
): Omit<ConnectionEvents, 'lost'> {
  let isGreeted = false;
  let isAcknowledged = false;
  let peerInitialWindow = initialWindowBytes;
  /** What may be sent on the connection and on the stream. Nothing is: the request has no body. */
  const sendWindow = { connection: initialWindowBytes, stream: initialWindowBytes };
  /** What the peer may send. */
  const receiveWindow = { connection: connectionWindowBytes + initialWindowBytes, stream: streamWindowBytes };
  let paddingBytes = 0;
  /** The server has reset the stream before its headers. */
  let isReset = false;
  let isGivingUp = false;

  /** Any other frame than SETTINGS must not come first. */
  const afterGreeting = (act: () => ConnectionFault | undefined): ConnectionFault | undefined =>
    isGreeted ? act() : fault(errorCode.protocol, 'a frame before SETTINGS');
  const ignore = () => afterGreeting(() => undefined);

  const settings = (announced: Settings): ConnectionFault | undefined => {
    isGreeted = true;
    const { forbidden, initialWindowBytes: window } = announced;
    if (forbidden)
      return fault(forbidden.isWindow ? errorCode.flowControl : errorCode.protocol, 'a setting out of range');
    if (window !== undefined) {
      sendWindow.stream += window - peerInitialWindow;
      peerInitialWindow = window;
    }
    write(settingsAck);
    return undefined;
  };
  const settingsAcknowledged = (): ConnectionFault | undefined => {
    isGreeted = true;
    if (isAcknowledged) return fault(errorCode.protocol, 'SETTINGS acknowledged twice');
    isAcknowledged = true;
    return undefined;
  };
  const data = (received: Data): ConnectionFault | undefined => {
    if (received.streamId !== streamId) return ofOtherStream(received);
    if (!stream.takesData()) return void settle(stream.broken('protocol error: received DATA before a HEADERS frame'));
    receiveWindow.connection -= received.payloadBytes;
    receiveWindow.stream -= received.payloadBytes;
    if (receiveWindow.connection < 0 || receiveWindow.stream < 0) return overflow;
    settle(stream.data(received));
    refund(received.payloadBytes - received.dataBytes);
    return undefined;
  };
  const ofOtherStream = (received: Data): ConnectionFault | undefined => {
    if (received.streamId > streamId + 1) return fault(errorCode.protocol, 'DATA of a stream that was never opened');
    refund(received.payloadBytes, 'connection');
    return undefined;
  };
  const refund = (bytes: number, of: 'both' | 'connection' = 'both') => {
    paddingBytes += bytes;
    if (paddingBytes < refundBytes) return;
    write(windowUpdate(0, paddingBytes));
    receiveWindow.connection += paddingBytes;
    if (of === 'both') {
      write(windowUpdate(streamId, paddingBytes));
      receiveWindow.stream += paddingBytes;
    }
    paddingBytes = 0;
  };
  const widen = (of: number, increment: number): ConnectionFault | undefined => {
    if (of === streamId) {
      sendWindow.stream += increment;
      if (sendWindow.stream > windowBytesMax) settle(stream.broken('FLOW_CONTROL_ERROR'));
      return undefined;
    }
    if (of !== 0) return undefined;
    sendWindow.connection += increment;
    return sendWindow.connection > windowBytesMax ? overflow : undefined;
  };
  /**
   * The server gives the stream up before its headers. Go's client reads on while it winds the stream up, so headers that are under way
   * already still count.
   */
  const giveUp = (why: string, isRetried: boolean) => {
    if (isGivingUp) return;
    isGivingUp = true;
    soon(() => settle(stream.broken(why, { isRetried })));
  };
  const goAway = ({ lastStreamId, code }: { readonly lastStreamId: number; readonly code: number }) => {
    const why = `http2: Transport received GOAWAY from server ErrCode:${errorName(code)}`;
    if (lastStreamId < streamId) giveUp(why, code === errorCode.noError);
    return undefined;
  };
  const reset = ({ streamId: of, code }: { readonly streamId: number; readonly code: number }) => {
    if (of !== streamId) return undefined;
    const why = `stream error: stream ID ${of}; ${errorName(code)}; received from peer`;
    if (stream.takesData()) settle(stream.broken(why));
    else giveUp(why, code === errorCode.refusedStream || code === errorCode.protocol);
    isReset = true;
    return undefined;
  };
  const headers = (block: Block) => {
    if (block.streamId !== streamId) return undefined;
    const next = stream.headers(block);
    if (next !== undefined && 'code' in next) return next;
    settle(next ?? (isReset && stream.takesData() ? stream.broken('stream error: received from peer') : undefined));
    return undefined;
  };
  const malformed = ({ streamId: of, message }: { readonly streamId: number; readonly message: string }) => {
    if (of === streamId) settle(stream.broken(`stream error: stream ID ${of}; ${message}`));
    return undefined;
  };

  return {
    settings,
    settingsAck: settingsAcknowledged,
    headers: (block) => afterGreeting(() => headers(block)),
    data: (received) => afterGreeting(() => data(received)),
    reset: (given) => afterGreeting(() => reset(given)),
    goAway: (away) => afterGreeting(() => goAway(away)),
    windowUpdate: ({ streamId: of, increment }) => afterGreeting(() => widen(of, increment)),
    pushPromise: () => fault(errorCode.protocol, 'a push that was refused'),
    other: ignore,
    pinged: ignore,
    // Go does not ask here whether SETTINGS came first.
    malformed,
    dataWanted: stream.dataWanted,
  };
}

const overflow = fault(errorCode.flowControl, 'more than the window');

function lostText(lost: Lost): string {
  if (lost.kind === 'ended') return unexpectedEnd;
  if (lost.kind === 'socket') return `read: ${lost.error.code ?? lost.error.message}`;
  return `connection error: ${errorName(lost.fault.code)}: ${lost.fault.message}`;
}
