/** What a server's frames mean, for whoever reads a connection. */
import type { ConnectionFault } from './frames.ts';
import type { Block } from './header-block.ts';
import type { Settings } from './settings.ts';

export type Data = {
  readonly streamId: number;
  readonly endStream: boolean;
  /** The data from its beginning, as far as `dataWanted` asked for it. */
  readonly data: Uint8Array;
  readonly dataBytes: number;
  /** What counts for flow control: data and padding. */
  readonly payloadBytes: number;
};

type Told<What> = (what: What) => ConnectionFault | undefined;

export type InboundEvents = {
  readonly settings: Told<Settings>;
  readonly settingsAck: () => ConnectionFault | undefined;
  readonly headers: Told<Block>;
  readonly data: Told<Data>;
  readonly reset: Told<{ readonly streamId: number; readonly code: number }>;
  readonly ping: Told<Uint8Array>;
  readonly goAway: Told<{ readonly lastStreamId: number; readonly code: number }>;
  readonly windowUpdate: Told<{ readonly streamId: number; readonly increment: number }>;
  readonly pushPromise: () => ConnectionFault | undefined;
  /** A frame that changes nothing: PRIORITY, a ping's answer, a type that is not known, a CONTINUATION after a malformed HEADERS. */
  readonly other: () => ConnectionFault | undefined;
  /** A frame that is wrong for its stream alone. */
  readonly malformed: Told<{ readonly streamId: number; readonly message: string }>;
  /** How much of a DATA frame that begins is to be kept, bytes. */
  readonly dataWanted: () => number;
};
