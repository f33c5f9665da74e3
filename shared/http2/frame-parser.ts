/** Definitions shared by the parsers of all frame types. */
import { type ConnectionFault, errorCode, type FrameHeader, fault } from './frames.ts';

/** Parses one frame after another. The payload of each arrives in pieces between `begin` and `end`. */
export type FrameParser = {
  readonly begin: (header: FrameHeader) => void;
  readonly take: (bytes: Uint8Array, from: number, to: number) => void;
  readonly end: (header: FrameHeader) => ConnectionFault | undefined;
};

export const nothing = () => undefined;
export const ofNoStream = fault(errorCode.protocol, 'a frame of a stream without its number');
export const ofStream = fault(errorCode.protocol, 'a frame of the connection with the number of a stream');
export const wrongSize = fault(errorCode.frameSize, 'a frame of the wrong size');
export const broken = fault(errorCode.protocol, 'unexpected EOF');
