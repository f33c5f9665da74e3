/**
 * Decodes a server's frames as Go's `Framer` does: each frame is validated by itself and reported once it is complete.
 * The caller applies its effect on the connection and the stream.
 */
import {
  type ConnectionFault,
  errorCode,
  type FrameHeader,
  type FrameTaker,
  fault,
  flag,
  frameType,
  hasFlag,
  streamIdMask,
} from './frames.ts';
import { type Block, type BlockOptions, BlockReader } from './header-block.ts';
import type { HealthCheck } from './health-check.ts';
import { decodeSettings, parameterBytes, type Settings } from './settings.ts';

export type Data = {
  readonly streamId: number;
  readonly endStream: boolean;
  /** Valid only during the call. */
  readonly data: Uint8Array;
  /** The bytes that count for flow control: data and padding. */
  readonly payloadBytes: number;
};

export type Reset = { readonly streamId: number; readonly code: number };
export type GoAway = { readonly lastStreamId: number; readonly code: number };
export type WindowUpdate = { readonly streamId: number; readonly increment: number };
/** A frame with an error that affects only its stream. */
export type Malformed = { readonly streamId: number; readonly message: string };

export type FrameListener<What> = (what: What) => ConnectionFault | undefined;

export type InboundEvents = {
  readonly settings: FrameListener<Settings>;
  readonly settingsAck: () => ConnectionFault | undefined;
  readonly headers: FrameListener<Block>;
  readonly data: FrameListener<Data>;
  readonly reset: FrameListener<Reset>;
  readonly goAway: FrameListener<GoAway>;
  readonly windowUpdate: FrameListener<WindowUpdate>;
  readonly pushPromise: () => ConnectionFault | undefined;
  /** A frame without effect: PRIORITY, a PING reply, an unknown type, or a CONTINUATION after a malformed HEADERS. */
  readonly other: () => ConnectionFault | undefined;
  readonly malformed: FrameListener<Malformed>;
};

/** Receives the payload of a PING, which the connection answers. */
export type PingListener = FrameListener<Uint8Array>;

export type InboundOptions = BlockOptions & { readonly frameBytesMax: number };

const ofNoStream = fault(errorCode.protocol, 'a frame of a stream without its number');
const ofStream = fault(errorCode.protocol, 'a frame of the connection with the number of a stream');
const wrongSize = fault(errorCode.frameSize, 'a frame of the wrong size');
const broken = fault(errorCode.protocol, 'unexpected EOF');

const priorityBytes = 5;
const resetBytes = 4;
const pingBytes = 8;
const goAwayBytes = 8;
const incrementBytes = 4;
const promisedIdBytes = 4;
const incrementMask = 0x7fff_ffff;

export class Inbound implements FrameTaker {
  readonly #events: InboundEvents;
  readonly #ping: PingListener;
  readonly #check: HealthCheck | undefined;
  readonly #blocks: BlockReader;
  readonly #frameBytesMax: number;
  /** The stream of an incomplete header block, which only its CONTINUATION may follow; 0 if there is none. */
  #openStreamId = 0;

  /** `check`: of the connection, if its health is checked. */
  constructor(events: InboundEvents, ping: PingListener, check: HealthCheck | undefined, options: InboundOptions) {
    this.#events = events;
    this.#ping = ping;
    this.#check = check;
    this.#blocks = new BlockReader(options);
    this.#frameBytesMax = options.frameBytesMax;
  }

  begin(header: FrameHeader): ConnectionFault | undefined {
    if (header.payloadBytes > this.#frameBytesMax) return fault(errorCode.frameSize, 'frame too large');
    const problem = this.#orderProblem(header);
    if (problem !== undefined) return fault(errorCode.protocol, problem);
    if (header.type === frameType.headers || header.type === frameType.continuation)
      this.#openStreamId = hasFlag(header, flag.endHeaders) ? 0 : header.streamId;
    return undefined;
  }

  #orderProblem({ type, streamId }: FrameHeader): string | undefined {
    const isContinuation = type === frameType.continuation;
    if (this.#openStreamId === 0) return isContinuation ? 'unexpected CONTINUATION' : undefined;
    if (!isContinuation) return 'another frame within a header block';
    return streamId === this.#openStreamId ? undefined : 'CONTINUATION of another stream';
  }

  take(header: FrameHeader, payload: Buffer): ConnectionFault | undefined {
    if (this.#openStreamId === 0) this.#check?.arrived();
    switch (header.type) {
      case frameType.data:
        return this.#data(header, payload);
      case frameType.headers:
        return this.#headers(header, payload);
      case frameType.continuation:
        return this.#continuation(header, payload);
      case frameType.priority:
        return ofOneStream(header, priorityBytes) ?? this.#events.other();
      case frameType.rstStream:
        return ofOneStream(header, resetBytes) ?? this.#reset(header, payload);
      case frameType.settings:
        return this.#settings(header, payload);
      case frameType.pushPromise:
        return this.#pushPromise(header, payload);
      case frameType.ping:
        return this.#pinged(header, payload);
      case frameType.goAway:
        return this.#goAway(header, payload);
      case frameType.windowUpdate:
        return this.#windowUpdate(header, payload);
      default:
        return this.#events.other();
    }
  }

  #data(header: FrameHeader, payload: Buffer): ConnectionFault | undefined {
    const { streamId, payloadBytes } = header;
    if (streamId === 0) return ofNoStream;
    const data = unpadded(header, payload, 0);
    if (data === 'broken') return broken;
    if (data === 'over-padded') return fault(errorCode.protocol, 'pad size larger than data payload');
    return this.#events.data({ streamId, endStream: hasFlag(header, flag.endStream), data, payloadBytes });
  }

  #headers(header: FrameHeader, payload: Buffer): ConnectionFault | undefined {
    const { streamId } = header;
    if (streamId === 0) return ofNoStream;
    const fragment = unpadded(header, payload, hasFlag(header, flag.priority) ? priorityBytes : 0);
    if (fragment === 'broken') return broken;
    if (fragment === 'over-padded') return this.#events.malformed({ streamId, message: 'too much padding' });
    this.#blocks.begin({ streamId, endStream: hasFlag(header, flag.endStream) });
    return this.#fragment(header, fragment);
  }

  #continuation(header: FrameHeader, payload: Buffer): ConnectionFault | undefined {
    if (header.streamId === 0) return ofNoStream;
    return this.#blocks.isOpen() ? this.#fragment(header, payload) : this.#events.other();
  }

  #fragment(header: FrameHeader, fragment: Buffer): ConnectionFault | undefined {
    const ended = this.#blocks.take(fragment, hasFlag(header, flag.endHeaders));
    if (ended === undefined) return undefined;
    if (!('kind' in ended)) return ended;
    if (ended.kind === 'block') return this.#events.headers(ended.block);
    return this.#events.malformed({ streamId: ended.streamId, message: ended.message });
  }

  #reset({ streamId }: FrameHeader, payload: Buffer): ConnectionFault | undefined {
    return this.#events.reset({ streamId, code: payload.readUInt32BE(0) });
  }

  #settings(header: FrameHeader, payload: Buffer): ConnectionFault | undefined {
    const isAck = hasFlag(header, flag.ack);
    if (isAck && payload.length > 0) return wrongSize;
    if (header.streamId !== 0) return ofStream;
    if (payload.length % parameterBytes !== 0) return wrongSize;
    if (isAck) return this.#events.settingsAck();
    const settings = decodeSettings(payload);
    if (settings.isFirstWindowTooLarge) return fault(errorCode.flowControl, 'a window that is too large');
    return this.#events.settings(settings);
  }

  #pushPromise(header: FrameHeader, payload: Buffer): ConnectionFault | undefined {
    if (header.streamId === 0) return ofNoStream;
    const promise = unpadded(header, payload, promisedIdBytes);
    if (promise === 'broken') return broken;
    return promise === 'over-padded' ? fault(errorCode.protocol, 'too much padding') : this.#events.pushPromise();
  }

  #pinged(header: FrameHeader, payload: Buffer): ConnectionFault | undefined {
    if (payload.length !== pingBytes) return wrongSize;
    if (header.streamId !== 0) return ofStream;
    if (!hasFlag(header, flag.ack)) return this.#ping(payload);
    this.#check?.answered(payload);
    return this.#events.other();
  }

  #goAway({ streamId }: FrameHeader, payload: Buffer): ConnectionFault | undefined {
    if (streamId !== 0) return ofStream;
    if (payload.length < goAwayBytes) return wrongSize;
    return this.#events.goAway({
      lastStreamId: payload.readUInt32BE(0) & streamIdMask,
      code: payload.readUInt32BE(4),
    });
  }

  #windowUpdate({ streamId }: FrameHeader, payload: Buffer): ConnectionFault | undefined {
    if (payload.length !== incrementBytes) return wrongSize;
    const increment = payload.readUInt32BE(0) & incrementMask;
    if (increment > 0) return this.#events.windowUpdate({ streamId, increment });
    const message = 'a window update by nothing';
    return streamId === 0 ? fault(errorCode.protocol, message) : this.#events.malformed({ streamId, message });
  }
}

/** What is wrong with a frame that has one size and a stream. */
function ofOneStream({ streamId, payloadBytes }: FrameHeader, bytes: number): ConnectionFault | undefined {
  if (payloadBytes !== bytes) return wrongSize;
  return streamId === 0 ? ofNoStream : undefined;
}

/** The content of a payload between the length of the padding with a prefix of `prefixBytes` bytes, and the padding. */
function unpadded(header: FrameHeader, payload: Buffer, prefixBytes: number): Buffer | 'broken' | 'over-padded' {
  const isPadded = hasFlag(header, flag.padded);
  const from = prefixBytes + (isPadded ? 1 : 0);
  if (payload.length < from) return 'broken';
  const to = payload.length - (isPadded ? (payload[0] ?? 0) : 0);
  return to < from ? 'over-padded' : payload.subarray(from, to);
}
