/**
 * Decodes a server's frames as Go's `Framer` does: each frame is validated by itself and reported once it is complete.
 * The caller applies its effect on the connection and the stream.
 */

import { fixedParser, goAwayParser, pushPromiseParser, settingsParser, windowUpdateParser } from './fixed-frames.ts';
import { type FrameParser, nothing } from './frame-parser.ts';
import { errorCode, type FrameHeader, type FrameTaker, fault, flag, frameType, hasFlag } from './frames.ts';
import { type BlockOptions, BlockReader } from './header-block.ts';
import type { InboundEvents } from './inbound-events.ts';
import { continuationParser, dataParser, headersParser } from './padded-frames.ts';

export type InboundOptions = BlockOptions & { readonly frameBytesMax: number };

export function inbound(events: InboundEvents, options: InboundOptions): FrameTaker {
  const parsers = parsersOf(events, options);
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
      const parser = parsers[type] ?? parsers.other;
      current = { header, parser };
      parser.begin(header);
      return undefined;
    },
    payload: (bytes, from, to) => current?.parser.take(bytes, from, to),
    end: () => current?.parser.end(current.header),
  };
}

type Parsers = { readonly [type: number]: FrameParser | undefined; readonly other: FrameParser };

function parsersOf(events: InboundEvents, options: InboundOptions): Parsers {
  const blocks = new BlockReader(options);
  return {
    [frameType.data]: dataParser(events),
    [frameType.headers]: headersParser(events, blocks),
    [frameType.continuation]: continuationParser(events, blocks),
    [frameType.priority]: fixedParser({ bytes: 5, end: events.other }),
    [frameType.rstStream]: fixedParser({
      bytes: 4,
      end: (payload, { streamId }) => events.reset({ streamId, code: payload.readUInt32BE(0) }),
    }),
    [frameType.settings]: settingsParser(events),
    [frameType.pushPromise]: pushPromiseParser(events),
    [frameType.ping]: fixedParser({
      bytes: 8,
      isOfConnection: true,
      end: (payload, header) => (hasFlag(header, flag.ack) ? events.other() : events.ping(payload)),
    }),
    [frameType.goAway]: goAwayParser(events),
    [frameType.windowUpdate]: windowUpdateParser(events),
    other: { begin: nothing, take: nothing, end: events.other },
  };
}
