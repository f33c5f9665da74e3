/** Reads an entry whose name a client chose: every object inherits something under `constructor` or `toString`, which is no entry of it. */

export const ownOf = <Value>(entries: { readonly [name: string]: Value }, name: string): Value | undefined =>
  Object.hasOwn(entries, name) ? entries[name] : undefined;
