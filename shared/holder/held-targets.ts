/**
 * The targets of a holder by the prefix of their keys, and by slice: what changes is read slice by slice, and a holder
 * that walked all its targets for each changed one would take a time that grows with the square of their number.
 */
import type { Bucket } from '../store/records/keys.ts';
import type { HeldTarget } from './probing/worker.ts';

/** A bucket, or one slice of it. */
export type HeldRange = { readonly bucket: Bucket; readonly slice?: string };

export class HeldTargets extends Map<string, HeldTarget> {
  /** By bucket, then by slice. A slice has one target in 65,536: mostly one or none. */
  readonly #buckets = new Map<Bucket, Map<string, Set<HeldTarget>>>();

  override set(prefix: string, held: HeldTarget): this {
    this.#forget(this.get(prefix));
    const { bucket, slice } = held.address;
    const slices = this.#buckets.get(bucket) ?? new Map<string, Set<HeldTarget>>();
    const targets = slices.get(slice) ?? new Set<HeldTarget>();
    this.#buckets.set(bucket, slices.set(slice, targets.add(held)));
    return super.set(prefix, held);
  }

  override delete(prefix: string): boolean {
    this.#forget(this.get(prefix));
    return super.delete(prefix);
  }

  override clear(): void {
    this.#buckets.clear();
    super.clear();
  }

  #forget(held: HeldTarget | undefined): void {
    if (!held) return;
    const { bucket, slice } = held.address;
    const slices = this.#buckets.get(bucket);
    const targets = slices?.get(slice);
    targets?.delete(held);
    if (targets?.size === 0) slices?.delete(slice);
    if (slices?.size === 0) this.#buckets.delete(bucket);
  }

  /** Those of the range. They may be deleted meanwhile. */
  within({ bucket, slice }: HeldRange): readonly HeldTarget[] {
    const slices = this.#buckets.get(bucket);
    if (slice !== undefined) return [...(slices?.get(slice) ?? [])];
    return [...(slices?.values() ?? [])].flatMap((targets) => [...targets]);
  }
}
