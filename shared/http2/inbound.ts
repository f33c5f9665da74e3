/**
 * Decodes a server's frames as Go's `Framer` does: each frame is validated by itself and reported once it is complete.
 * The caller applies its effect on the connection and the stream.
 */

import { fixedParser, goAwayParser, pushPromiseParser, settingsParser, windowUpdateParser } from './fixed-frames.ts';
import { type FrameParser, nothing } from './frame-parser.ts';
import { errorCode, type FrameHeader, type FrameTaker, fault, flag, frameType, hasFlag } from './frames.ts';
import { type BlockOptions, BlockReader } from './header-block.ts';
import type { HealthCheck } from './health-check.ts';
import type { FrameListener, InboundEvents } from './inbound-events.ts';
import { continuationParser, dataParser, headersParser } from './padded-frames.ts';

export type InboundOptions = BlockOptions & { readonly frameBytesMax: number };

type Listeners = {
  readonly events: InboundEvents;
  readonly ping: FrameListener<Uint8Array>;
  /** Of the connection, if its health is checked. */
  readonly check: HealthCheck | undefined;
};

export function inbound(listeners: Listeners, options: InboundOptions): FrameTaker {
  const parserOf = lazyParsers(listeners, options);
  /**
   * The stream of an incomplete header block, which only a CONTINUATION of the same stream may follow; 0 if there is
   * none.
   */
  let openStreamId = 0;
  let current: { readonly header: FrameHeader; readonly parser: FrameParser } | undefined;

  const orderProblem = ({ type, streamId }: FrameHeader): string | undefined => {
    const isContinuation = type === frameType.continuation;
    if (openStreamId === 0) return isContinuation ? 'unexpected CONTINUATION' : undefined;
    if (!isContinuation) return 'another frame within a header block';
    return streamId === openStreamId ? undefined : 'CONTINUATION of another stream';
  };

  return {
    begin: (header) => {
      if (header.payloadBytes > options.frameBytesMax) return fault(errorCode.frameSize, 'frame too large');
      const problem = orderProblem(header);
      if (problem !== undefined) return fault(errorCode.protocol, problem);
      const { type, streamId } = header;
      if (type === frameType.headers || type === frameType.continuation)
        openStreamId = hasFlag(header, flag.endHeaders) ? 0 : streamId;
      const parser = parserOf(type);
      current = { header, parser };
      parser.begin(header);
      return undefined;
    },
    payload: (bytes, from, to) => current?.parser.take(bytes, from, to),
    end: () => {
      if (openStreamId === 0) listeners.check?.arrived();
      return current?.parser.end(current.header);
    },
  };
}

/** A connection receives few types of frames, so a parser is made when the first frame of its type comes. */
function lazyParsers(listeners: Listeners, options: InboundOptions): (type: number) => FrameParser {
  const parsers: (FrameParser | undefined)[] = [];
  let blocks: BlockReader | undefined;
  const blocksRead = () => {
    blocks ??= new BlockReader(options);
    return blocks;
  };
  return (type) => {
    const known = Math.min(type, otherType);
    parsers[known] ??= newParser(known, listeners, blocksRead);
    return parsers[known];
  };
}

/** Stands for all types above those that are known. */
const otherType = frameType.continuation + 1;

function newParser(type: number, { events, ping, check }: Listeners, blocks: () => BlockReader): FrameParser {
  switch (type) {
    case frameType.data:
      return dataParser(events);
    case frameType.headers:
      return headersParser(events, blocks());
    case frameType.continuation:
      return continuationParser(events, blocks());
    case frameType.priority:
      return fixedParser({ bytes: 5, end: () => events.other() });
    case frameType.rstStream:
      return fixedParser({
        bytes: 4,
        end: (payload, { streamId }) => events.reset({ streamId, code: payload.readUInt32BE(0) }),
      });
    case frameType.settings:
      return settingsParser(events);
    case frameType.pushPromise:
      return pushPromiseParser(events);
    case frameType.ping:
      return fixedParser({
        bytes: 8,
        isOfConnection: true,
        end: (payload, header) => {
          if (!hasFlag(header, flag.ack)) return ping(payload);
          check?.answered(payload);
          return events.other();
        },
      });
    case frameType.goAway:
      return goAwayParser(events);
    case frameType.windowUpdate:
      return windowUpdateParser(events);
    default:
      return { begin: nothing, take: nothing, end: () => events.other() };
  }
}
