/** The memory shared by the event loop and the watchdog's thread. */
import { workNameBytesMax } from '../../shared/lib/attribution.ts';

/** The meaning of each integer. */
export const cell = {
  /** Incremented by a timer of the event loop. */
  turns: 0,
  /** The row of the running work's name; 0 if there is none. */
  row: 1,
  /** Incremented whenever the loop begins to run a piece of work. */
  entries: 2,
  /** 1 if the process has been asked to stop. */
  stopping: 3,
} as const;

/** More than the maximum number of probes in flight. */
export const rowsMax = 1_024;

export type SharedCells = { readonly cells: Int32Array; readonly names: Buffer };

/** A name is stored as its length in four bytes, followed by its characters. */
export const lengthBytes = 4;
export const rowBytes = lengthBytes + workNameBytesMax;

export const sharedCells = (): SharedCells => ({
  cells: new Int32Array(new SharedArrayBuffer(Object.keys(cell).length * Int32Array.BYTES_PER_ELEMENT)),
  names: Buffer.from(new SharedArrayBuffer(rowsMax * rowBytes)),
});
