/** Parsers for frames that carry data or a header block with optional padding. */

import { gathered } from '../lib/gathered.ts';
import { broken, type FrameParser, nothing, ofNoStream } from './frame-parser.ts';
import { type ConnectionFault, errorCode, type FrameHeader, fault, flag, hasFlag } from './frames.ts';
import type { BlockReader } from './header-block.ts';
import type { InboundEvents } from './inbound-events.ts';

/** A payload that consists of a prefix, content and optional padding. */
type Padded = {
  readonly begin: (header: FrameHeader, prefixBytes: number) => void;
  /** Passes the part of `[from, to)` that is content to `carried`. */
  readonly take: (bytes: Uint8Array, from: number, to: number) => void;
  /** Whether the whole payload has been taken. */
  readonly isComplete: () => boolean;
  readonly isBroken: () => boolean;
  readonly isOverPadded: () => boolean;
  readonly carriedBytes: () => number;
};

type PaddedEvents = {
  /**
   * The prefix is complete and the content has `carriedBytes` bytes. The number is negative if the padding is too long.
   */
  readonly begin: (carriedBytes: number) => void;
  readonly carried: (bytes: Uint8Array, from: number, to: number) => void;
};

function padded({ begin, carried }: PaddedEvents): Padded {
  let isPadded = false;
  let prefixBytes = 0;
  let payloadBytes = 0;
  let seen = 0;
  let paddingBytes = 0;
  const carriedBytes = () => payloadBytes - prefixBytes - paddingBytes;
  return {
    begin: (header, otherBytes) => {
      isPadded = hasFlag(header, flag.padded);
      prefixBytes = otherBytes + (isPadded ? 1 : 0);
      payloadBytes = header.payloadBytes;
      seen = 0;
      paddingBytes = 0;
      if (prefixBytes === 0) begin(carriedBytes());
    },
    take: (bytes, from, to) => {
      let at = from;
      if (isPadded && seen === 0) paddingBytes = bytes[at] ?? 0;
      if (seen < prefixBytes) {
        const skipped = Math.min(prefixBytes - seen, to - at);
        seen += skipped;
        at += skipped;
        if (seen === prefixBytes) begin(carriedBytes());
      }
      const end = Math.min(to, at + prefixBytes + carriedBytes() - seen);
      if (end > at) carried(bytes, at, end);
      seen += to - at;
    },
    isComplete: () => seen === payloadBytes,
    isBroken: () => payloadBytes < prefixBytes,
    isOverPadded: () => carriedBytes() < 0,
    carriedBytes,
  };
}

const ofNoFrame = gathered(0);

export function dataParser(events: InboundEvents): FrameParser {
  let wanted = ofNoFrame;
  const payload = padded({ begin: nothing, carried: (bytes, from, to) => wanted.add(bytes, from, to) });
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
  const payload = padded({
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
    take: payload.take,
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
