/** A request whose body is handed on in few pieces, however small the chunks are in which it comes. */
import { IncomingMessage } from 'node:http';

/** Chunks of at least this size are handed on as they are. */
const gatherBytes = 512;

/**
 * `gathered` of shared/lib grows by copying, for a text of unknown length; here a piece has one size. Node's
 * parser pushes each chunk of a body by itself, and each costs its reader several turns of a promise: of chunks
 * of a byte that is a thousand times what the byte is worth. Those that are parsed together become one.
 */
export class GatheredMessage extends IncomingMessage {
  #gathered: Buffer | undefined;
  #length = 0;

  override push(chunk: Buffer | null): boolean {
    if (chunk === null || chunk.length >= gatherBytes) {
      this.#handOn();
      return super.push(chunk);
    }
    if (this.#length + chunk.length > gatherBytes) this.#handOn();
    if (this.#length === 0) queueMicrotask(() => this.#handOn());
    this.#gathered ??= Buffer.allocUnsafe(gatherBytes);
    chunk.copy(this.#gathered, this.#length);
    this.#length += chunk.length;
    return this.readableLength + this.#length < this.readableHighWaterMark;
  }

  #handOn(): void {
    const bytes = this.#gathered?.subarray(0, this.#length);
    if (bytes === undefined) return;
    this.#gathered = undefined;
    this.#length = 0;
    super.push(bytes);
  }
}
