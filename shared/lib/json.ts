/** The values that JSON, and therefore a store item, can hold, and how many of them a parsed text has. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

export type ValueLimits = { readonly valuesMax: number; readonly depthMax: number };

export type ValueSize =
  | { readonly kind: 'counted'; readonly values: number }
  /** Counting stopped there. */
  | { readonly kind: 'tooMany' }
  | { readonly kind: 'tooDeep' };

/** Counts the objects, lists and plain values. An object that occurs twice counts twice. */
export function valueSize(root: unknown, { valuesMax, depthMax }: ValueLimits): ValueSize {
  const pending: { readonly value: unknown; readonly depth: number }[] = [{ value: root, depth: 0 }];
  let values = 0;
  for (let next = pending.pop(); next; next = pending.pop()) {
    values += 1;
    if (values > valuesMax) return { kind: 'tooMany' };
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth >= depthMax) return { kind: 'tooDeep' };
    for (const value of Object.values(next.value)) pending.push({ value, depth: next.depth + 1 });
  }
  return { kind: 'counted', values };
}
