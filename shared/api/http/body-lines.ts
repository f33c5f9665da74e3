/**
 * The lines of a body, one after the other as they arrive. At most one line and one piece of the body are held, and the
 * body is read no faster than its lines are taken.
 */
import { gathered } from '../../lib/gathered.ts';
import { decodedText, requestBodyBytesMax, tooLarge } from './body.ts';
import { brokenOff, type Checked, type Problem, problem } from './problem.ts';

/** `number`: from 1. `text`: the problem, if the line is refused unread. */
export type BodyLine = { readonly number: number; readonly text: Checked<string> };

/** A line may be as large as the body of one target. */
const lineBytesMax = requestBodyBytesMax;
const lineFeed = 0x0a;

/**
 * Blank lines count and are left out. A line that is too long is a problem of its own; a body that is too long, has too
 * many lines or breaks off ends with a problem in the place of the line that was not read.
 * @param bytesMax the size of the whole body
 */
export async function* bodyLines(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
  linesMax: number,
): AsyncGenerator<BodyLine> {
  const line = lineBuffer();
  let number = 1;
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.byteLength;
      for (const part of partsOf(piece)) {
        // Lines before the limit are taken even if they arrived in one piece with what is beyond it.
        if (number > linesMax) return yield { number, text: tooManyLines(linesMax) };
        line.add(part.bytes);
        if (!part.isEnd) continue;
        const text = line.take();
        if (!isBlank(text)) yield { number, text };
        number += 1;
      }
      if (bytes > bytesMax) return yield { number, text: tooLarge(bytesMax) };
    }
  } catch {
    return yield { number, text: brokenOff };
  }
  const last = line.take();
  if (!isBlank(last)) yield { number, text: last };
}

const isBlank = (text: Checked<string>): boolean => text.kind === 'ok' && text.value.trim() === '';

const tooManyLines = (linesMax: number): Problem =>
  problem(413, 'too-many-lines', `The body has more than ${linesMax} lines: send the rest in another request.`);

/** Each ends at a line feed, which it leaves out, or at the end of the piece. */
function* partsOf(piece: Uint8Array): Generator<{ readonly bytes: Uint8Array; readonly isEnd: boolean }> {
  let from = 0;
  for (let at = piece.indexOf(lineFeed); at >= 0; at = piece.indexOf(lineFeed, from)) {
    yield { bytes: piece.subarray(from, at), isEnd: true };
    from = at + 1;
  }
  if (from < piece.byteLength) yield { bytes: piece.subarray(from), isEnd: false };
}

/** Pieces may have a byte each, so none of them is kept. */
function lineBuffer() {
  let bytes = gathered(lineBytesMax);
  let length = 0;
  return {
    /** Keeps no more of a line that is too long. */
    add(part: Uint8Array): void {
      length += part.byteLength;
      bytes.add(part);
    },
    take(): Checked<string> {
      const text = length > lineBytesMax ? tooLarge(lineBytesMax, 'line') : decodedText(bytes.bytes(), 'line');
      bytes = gathered(lineBytesMax);
      length = 0;
      return text;
    },
  };
}
