/** Parsers for frames that carry data or a header block with optional padding. */

import { gathered } from '../lib/gathered.ts';
import { broken, type FrameParser, nothing, ofNoStream } from './frame-parser.ts';
import { type ConnectionFault, errorCode, type FrameHeader, fault, flag, hasFlag } from './frames.ts';
import type { BlockReader } from './header-block.ts';
import type { InboundEvents } from './inbound-events.ts';

type PaddedEvents = {
  /**
   * The prefix is complete and the content has `carriedBytes` bytes. The number is negative if the padding is too long.
   */
  readonly begin: (carriedBytes: number) => void;
  readonly carried: (bytes: Uint8Array, from: number, to: number) => void;
};

/** A payload that consists of a prefix, content and optional padding. */
class Padded {
  readonly #events: PaddedEvents;
  #isPadded = false;
  #prefixBytes = 0;
  #payloadBytes = 0;
  #seen = 0;
  #paddingBytes = 0;

  constructor(events: PaddedEvents) {
    this.#events = events;
  }

  begin(header: FrameHeader, otherBytes: number): void {
    this.#isPadded = hasFlag(header, flag.padded);
    this.#prefixBytes = otherBytes + (this.#isPadded ? 1 : 0);
    this.#payloadBytes = header.payloadBytes;
    this.#seen = 0;
    this.#paddingBytes = 0;
    if (this.#prefixBytes === 0) this.#events.begin(this.carriedBytes());
  }

  /** Passes the part of `[from, to)` that is content to `carried`. */
  take(bytes: Uint8Array, from: number, to: number): void {
    let at = from;
    if (this.#isPadded && this.#seen === 0) this.#paddingBytes = bytes[at] ?? 0;
    if (this.#seen < this.#prefixBytes) {
      const skipped = Math.min(this.#prefixBytes - this.#seen, to - at);
      this.#seen += skipped;
      at += skipped;
      if (this.#seen === this.#prefixBytes) this.#events.begin(this.carriedBytes());
    }
    const end = Math.min(to, at + this.#prefixBytes + this.carriedBytes() - this.#seen);
    if (end > at) this.#events.carried(bytes, at, end);
    this.#seen += to - at;
  }

  /** Whether the whole payload has been taken. */
  isComplete(): boolean {
    return this.#seen === this.#payloadBytes;
  }

  isBroken(): boolean {
    return this.#payloadBytes < this.#prefixBytes;
  }

  isOverPadded(): boolean {
    return this.carriedBytes() < 0;
  }

  carriedBytes(): number {
    return this.#payloadBytes - this.#prefixBytes - this.#paddingBytes;
  }
}

const ofNoFrame = gathered(0);

export function dataParser(events: InboundEvents): FrameParser {
  let wanted = ofNoFrame;
  const payload = new Padded({ begin: nothing, carried: (bytes, from, to) => wanted.add(bytes, from, to) });
  return {
    begin: (header) => {
      wanted = gathered(Math.min(events.dataWanted(), header.payloadBytes));
      payload.begin(header, 0);
    },
    take: (bytes, from, to) => {
      payload.take(bytes, from, to);
      if (!payload.isComplete()) wanted.keep();
    },
    end: (header) => {
      const { streamId, payloadBytes } = header;
      if (streamId === 0) return ofNoStream;
      if (payload.isBroken()) return broken;
      if (payload.isOverPadded()) return fault(errorCode.protocol, 'pad size larger than data payload');
      const endStream = hasFlag(header, flag.endStream);
      const data = wanted.bytes();
      wanted = ofNoFrame;
      return events.data({ streamId, endStream, data, dataBytes: payload.carriedBytes(), payloadBytes });
    },
  };
}

const priorityBytes = 5;

export function headersParser(events: InboundEvents, blocks: BlockReader): FrameParser {
  let started: FrameHeader | undefined;
  const payload = new Padded({
    begin: (bytes) => {
      if (bytes < 0 || started === undefined || started.streamId === 0) return;
      blocks.begin({ streamId: started.streamId, endStream: hasFlag(started, flag.endStream) });
      blocks.beginFragment(bytes);
    },
    carried: (bytes, from, to) => blocks.take(bytes, from, to),
  });
  return {
    begin: (header) => {
      started = header;
      payload.begin(header, hasFlag(header, flag.priority) ? priorityBytes : 0);
    },
    take: (bytes, from, to) => payload.take(bytes, from, to),
    end: (header) => {
      const { streamId } = header;
      if (streamId === 0) return ofNoStream;
      if (payload.isBroken()) return broken;
      if (payload.isOverPadded()) return events.malformed({ streamId, message: 'too much padding' });
      return endFragment(events, blocks, header);
    },
  };
}

export function continuationParser(events: InboundEvents, blocks: BlockReader): FrameParser {
  return {
    begin: ({ payloadBytes }) => blocks.beginFragment(payloadBytes),
    take: (bytes, from, to) => {
      if (blocks.isOpen()) blocks.take(bytes, from, to);
    },
    end: (header) => {
      if (header.streamId === 0) return ofNoStream;
      return blocks.isOpen() ? endFragment(events, blocks, header) : events.other();
    },
  };
}

function endFragment(events: InboundEvents, blocks: BlockReader, header: FrameHeader): ConnectionFault | undefined {
  const ended = blocks.endFragment(hasFlag(header, flag.endHeaders));
  if (ended === undefined) return undefined;
  if (!('kind' in ended)) return ended;
  if (ended.kind === 'block') return events.headers(ended.block);
  return events.malformed({ streamId: ended.streamId, message: ended.message });
}
