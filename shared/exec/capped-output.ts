/**
 * Keeps the first bytes of several streams, one stream after the other. The rest is read and dropped at a limited rate,
 * so that a command that writes endlessly takes little CPU.
 */
import type { Readable } from 'node:stream';
import type { Clock } from '../lib/clock.ts';
import { outputBytesMax } from './exec.ts';

export type CappedOutput = {
  readonly text: () => string;
  /** Destroys the streams. */
  readonly close: () => void;
};

/** How many bytes are dropped before each pause. With `pauseMs` this limits the rate to about 50 MB/s. */
const breathBytesMax = 524_288;
const pauseMs = 10;

export function cappedOutput(streams: readonly Readable[], clock: Clock): CappedOutput {
  let dropped = 0;
  let cancelPause = () => {};
  const resume = () => {
    dropped = 0;
    for (const stream of streams) stream.resume();
  };
  const onChunk = (kept: Kept) => (chunk: Buffer) => {
    const wanted = chunk.subarray(0, outputBytesMax - kept.bytes);
    // Copied, because the chunk is a slice of a much larger read buffer.
    if (wanted.length > 0) kept.chunks.push(Buffer.from(wanted));
    kept.bytes += wanted.length;
    dropped += chunk.length - wanted.length;
    if (dropped < breathBytesMax) return;
    for (const stream of streams) stream.pause();
    cancelPause();
    cancelPause = clock.setTimer(pauseMs, resume);
  };
  const all = streams.map((stream) => {
    const kept: Kept = { chunks: [], bytes: 0 };
    stream.on('data', onChunk(kept)).on('error', ignore);
    return kept;
  });
  return {
    text: () =>
      Buffer.concat(all.flatMap(({ chunks }) => chunks))
        .subarray(0, outputBytesMax)
        .toString('utf8'),
    close: () => {
      cancelPause();
      for (const stream of streams) stream.destroy();
    },
  };
}

/** Of one stream: the first bytes, at most `outputBytesMax`. */
type Kept = { readonly chunks: Buffer[]; bytes: number };

const ignore = () => undefined;
