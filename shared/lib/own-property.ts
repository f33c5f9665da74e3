/**
 * Reads an entry under a name that a client chose. Every object inherits members such as `constructor` and `toString`,
 * which are not entries.
 */

export const ownProperty = <Value>(entries: { readonly [name: string]: Value }, name: string): Value | undefined =>
  Object.hasOwn(entries, name) ? entries[name] : undefined;
