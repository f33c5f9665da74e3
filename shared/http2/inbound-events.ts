/**
 * The decoded frames of a server, except PING, which the connection answers, as events for the reader of a connection.
 */
import type { ConnectionFault } from './frames.ts';
import type { Block } from './header-block.ts';
import type { Settings } from './settings.ts';

export type Data = {
  readonly streamId: number;
  readonly endStream: boolean;
  /** The first bytes of the data, up to the length that `dataWanted` returned. */
  readonly data: Uint8Array;
  readonly dataBytes: number;
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
  /** Returns how many bytes to keep of a DATA frame that begins. */
  readonly dataWanted: () => number;
};
