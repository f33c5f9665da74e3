/** The memory that the event loop and the thread that watches it share. */
import { workNameBytesMax } from '../../shared/lib/attribution.ts';

/** Which of the integers is what. */
export const cell = {
  /** Grows with each look of the event loop at its own timer. */
  turns: 0,
  /** Row of the name on whose behalf the loop runs; 0: its own. */
  row: 1,
  /** Grows whenever the loop begins to run on behalf of somebody. */
  entries: 2,
  /** 1: the process has been told to end. */
  stopping: 3,
} as const;

/** More than there are probes in flight (shared/core/room.ts). */
export const rowsMax = 1_024;

export type SharedCells = { readonly cells: Int32Array; readonly names: Buffer };

/** A name is its length, four bytes, and its characters. */
export const lengthBytes = 4;
export const rowBytes = lengthBytes + workNameBytesMax;

export const sharedCells = (): SharedCells => ({
  cells: new Int32Array(new SharedArrayBuffer(Object.keys(cell).length * Int32Array.BYTES_PER_ELEMENT)),
  names: Buffer.from(new SharedArrayBuffer(rowsMax * rowBytes)),
});
