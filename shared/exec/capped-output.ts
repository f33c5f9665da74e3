/** The first bytes of what several streams say, together; the rest is read and dropped, in breaths, so that an endless writer takes no CPU worth naming. */
import type { Readable } from 'node:stream';
import type { Clock } from '../lib/clock.ts';
import { outputBytesMax } from './exec.ts';

export type CappedOutput = {
  readonly text: () => string;
  /** Closes the reading ends. */
  readonly close: () => void;
};

/** Dropped at most per breath, and the pause between two: about 50 MB/s. */
const breathBytesMax = 524_288;
const pauseMs = 10;

export function cappedOutput(streams: readonly Readable[], clock: Clock): CappedOutput {
  const chunks: Buffer[] = [];
  let kept = 0;
  let dropped = 0;
  let cancelPause = () => {};
  const resume = () => {
    dropped = 0;
    for (const stream of streams) stream.resume();
  };
  const onChunk = (chunk: Buffer) => {
    const wanted = chunk.subarray(0, outputBytesMax - kept);
    // A copy: the chunk is a slice of a read buffer many times its size.
    if (wanted.length > 0) chunks.push(Buffer.from(wanted));
    kept += wanted.length;
    dropped += chunk.length - wanted.length;
    if (dropped < breathBytesMax) return;
    for (const stream of streams) stream.pause();
    cancelPause();
    cancelPause = clock.setTimer(pauseMs, resume);
  };
  for (const stream of streams) stream.on('data', onChunk).on('error', ignore);
  return {
    text: () => Buffer.concat(chunks).toString('utf8'),
    close: () => {
      cancelPause();
      for (const stream of streams) stream.destroy();
    },
  };
}

const ignore = () => undefined;
