/** Parsers for SETTINGS and for frames whose payload has a fixed size. They keep only the decoded values. */

import { broken, type FrameParser, ofNoStream, ofStream, wrongSize } from './frame-parser.ts';
import { type ConnectionFault, errorCode, type FrameHeader, fault, flag, hasFlag, streamIdMask } from './frames.ts';
import type { InboundEvents } from './inbound-events.ts';
import { SettingsReader } from './settings.ts';

/** Keeps the first bytes of a payload. */
type Prefix = { readonly begin: () => void; readonly take: FrameParser['take']; readonly bytes: Buffer };

function prefix(bytesMax: number): Prefix {
  const bytes = Buffer.alloc(bytesMax);
  let length = 0;
  return {
    begin: () => {
      length = 0;
    },
    take: (piece, from, to) => {
      for (let at = from; at < to && length < bytesMax; at += 1) bytes[length++] = piece[at] ?? 0;
    },
    bytes,
  };
}

type Fixed = {
  readonly bytes: number;
  /** The frame belongs to the connection; if absent, to a stream. */
  readonly isOfConnection?: true;
  readonly end: (payload: Buffer, header: FrameHeader) => ConnectionFault | undefined;
};

/** Parses a frame type with a fixed payload size. */
export function fixedParser({ bytes, isOfConnection, end }: Fixed): FrameParser {
  const payload = prefix(bytes);
  return {
    begin: payload.begin,
    take: payload.take,
    end: (header) => {
      if (header.payloadBytes !== bytes) return wrongSize;
      if (isOfConnection ? header.streamId !== 0 : header.streamId === 0) return isOfConnection ? ofStream : ofNoStream;
      return end(payload.bytes, header);
    },
  };
}

const incrementMask = 0x7fff_ffff;

export function windowUpdateParser(events: InboundEvents): FrameParser {
  const payload = prefix(4);
  return {
    begin: payload.begin,
    take: payload.take,
    end: ({ streamId, payloadBytes }) => {
      if (payloadBytes !== 4) return wrongSize;
      const increment = payload.bytes.readUInt32BE(0) & incrementMask;
      if (increment > 0) return events.windowUpdate({ streamId, increment });
      const message = 'a window update by nothing';
      return streamId === 0 ? fault(errorCode.protocol, message) : events.malformed({ streamId, message });
    },
  };
}

const goAwayBytes = 8;

export function goAwayParser(events: InboundEvents): FrameParser {
  const payload = prefix(goAwayBytes);
  return {
    begin: payload.begin,
    take: payload.take,
    end: ({ streamId, payloadBytes }) => {
      if (streamId !== 0) return ofStream;
      if (payloadBytes < goAwayBytes) return wrongSize;
      const lastStreamId = payload.bytes.readUInt32BE(0) & streamIdMask;
      return events.goAway({ lastStreamId, code: payload.bytes.readUInt32BE(4) });
    },
  };
}

export function settingsParser(events: InboundEvents): FrameParser {
  let reader = new SettingsReader();
  return {
    begin: () => {
      reader = new SettingsReader();
    },
    take: (bytes, from, to) => reader.take(bytes, from, to),
    end: (header) => {
      const isAck = hasFlag(header, flag.ack);
      if (isAck && header.payloadBytes > 0) return wrongSize;
      if (header.streamId !== 0) return ofStream;
      const settings = reader.end();
      if (settings === undefined) return wrongSize;
      if (settings.isFirstWindowTooLarge) return fault(errorCode.flowControl, 'a window that is too large');
      return isAck ? events.settingsAck() : events.settings(settings);
    },
  };
}

export function pushPromiseParser(events: InboundEvents): FrameParser {
  const payload = prefix(1);
  return {
    begin: payload.begin,
    take: payload.take,
    end: (header) => {
      if (header.streamId === 0) return ofNoStream;
      const isPadded = hasFlag(header, flag.padded);
      const restBytes = header.payloadBytes - (isPadded ? 1 : 0) - promisedIdBytes;
      if (restBytes < 0) return broken;
      if (isPadded && (payload.bytes[0] ?? 0) > restBytes) return fault(errorCode.protocol, 'too much padding');
      return events.pushPromise();
    },
  };
}

const promisedIdBytes = 4;
