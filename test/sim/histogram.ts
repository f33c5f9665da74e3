/** Durations in bounded memory: exact below a quarter of a second, within one percent above; the longest exactly. */

/** Plain, so that a thread can hand it over. */
export type Histogram = { readonly counts: Map<number, number>; count: number; maxMs: number };

export const newHistogram = (): Histogram => ({ counts: new Map(), count: 0, maxMs: 0 });

/** 128 steps for each power of two. */
const stepBits = 7;

/** The upper end of the step that the duration lies in. */
function stepEnd(ms: number): number {
  const whole = Math.ceil(ms);
  const width = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, whole))) - stepBits);
  return Math.ceil(whole / width) * width;
}

export function record(histogram: Histogram, ms: number): void {
  const end = stepEnd(ms);
  histogram.counts.set(end, (histogram.counts.get(end) ?? 0) + 1);
  histogram.count += 1;
  histogram.maxMs = Math.max(histogram.maxMs, ms);
}

/** Adds what the other one holds. */
export function merge(histogram: Histogram, other: Histogram): void {
  for (const [end, count] of other.counts) histogram.counts.set(end, (histogram.counts.get(end) ?? 0) + count);
  histogram.count += other.count;
  histogram.maxMs = Math.max(histogram.maxMs, other.maxMs);
}

/** So many lie at or below; 0 of an empty one. */
export function quantile(histogram: Histogram, part: number): number {
  let left = Math.max(1, Math.ceil(part * histogram.count));
  for (const [end, count] of [...histogram.counts].sort(([one], [other]) => one - other)) {
    left -= count;
    if (left <= 0) return Math.min(end, histogram.maxMs);
  }
  return histogram.maxMs;
}
