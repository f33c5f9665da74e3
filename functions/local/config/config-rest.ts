/** Since when the files of the configuration are at rest, which only looks at them can say. */

/**
 * How long files have to stay as they are before a target or a probe that they no longer have is removed. A file that
 * is written slowly, or in several steps, is between two of them for seconds.
 */
export const restMs = 30_000;
/**
 * Looks further apart say nothing of the time between them: a file that is away at both may have come and gone. Longer
 * than the rest between two looks of which neither reads a file.
 */
const gapMsMax = 15_000;

export class Rest {
  #seen: string | undefined;
  #sinceMs = 0;
  #lookedMs = 0;

  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** `found`: all that a look sees of the files. `nowMs`: when it has, monotonic. Returns whether that is new. */
  look(found: string, nowMs: number): boolean {
    const isNew = found !== this.#seen;
    if (isNew || nowMs - this.#lookedMs > gapMsMax) this.#sinceMs = nowMs;
    this.#seen = found;
    this.#lookedMs = nowMs;
    return isNew;
  }

  /** As the last look has found them. What happens after it, as while files are read, is not known yet. */
  isOver(): boolean {
    return this.#lookedMs - this.#sinceMs >= restMs;
  }
}
