/** What has to hold of the targets of the configuration's files, judged by the files alone. */
import type { ExpectedTarget } from './files.ts';

export type ListedTarget = {
  readonly name: string;
  readonly uid: string;
  readonly isLeaving: boolean;
  /** Its grace period is not over yet, by the wall clock: for days if the clock has been set back. */
  readonly isInGrace: boolean;
};

/** After a change and after the faults: a look, a rest of half a minute, a grace period. */
const addedMs = 60_000;
const removedMs = 180_000;
/** After the name has become free: the longest rest between two tries, and a look. */
const freedMs = 330_000;

/** Remembers what it has seen. */
export class FileTargetCheck {
  readonly #uids = new Map<string, string>();
  /** When the name of each was last seen to be taken by a target that leaves. */
  readonly #takenMs = new Map<string, number>();

  /** `calmMs`: since when no fault may delay anything. */
  wrong(
    expected: readonly ExpectedTarget[],
    listed: readonly ListedTarget[],
    { nowMs, calmMs }: { readonly nowMs: number; readonly calmMs: number },
  ): readonly string[] {
    return expected.flatMap(({ name, isThere, sinceMs }) => {
      const found = listed.find((each) => each.name === name && !each.isLeaving);
      const isDue = (withinMs: number) => nowMs - Math.max(sinceMs, calmMs) > withinMs;
      if (listed.some((each) => each.name === name && each.isInGrace)) this.#takenMs.set(name, nowMs);
      const isFree = nowMs - (this.#takenMs.get(name) ?? Number.NEGATIVE_INFINITY) > freedMs;
      if (isThere) return this.#wrongOfStaying(name, found, isFree && isDue(addedMs));
      this.#uids.delete(name);
      return isThere === false && found && isDue(removedMs) ? [`${name} is not removed`] : [];
    });
  }

  #wrongOfStaying(name: string, found: ListedTarget | undefined, isDue: boolean): readonly string[] {
    const known = this.#uids.get(name);
    if (found) this.#uids.set(name, found.uid);
    if (known !== undefined && known !== found?.uid) return [`${name} was removed although its file has it`];
    return !found && isDue ? [`${name} is not registered`] : [];
  }
}
