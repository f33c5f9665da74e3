/**
 * Deep equality of plain values; an attribute that is undefined counts as absent, and the order of attributes does not
 * matter.
 */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return sameList(a, b);
  const keys = definedKeys(a);
  return keys.length === definedKeys(b).length && keys.every((key) => sameValue(field(a, key), field(b, key)));
}

function sameList(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((value, index) => sameValue(value, b[index]));
}

const field = (value: object, key: string): unknown => (value as { readonly [key: string]: unknown })[key];
const definedKeys = (value: object): readonly string[] =>
  Object.keys(value).filter((key) => field(value, key) !== undefined);
