/** Values that follow from an object alone, and are expensive to make. */

/** Calls `make` once for each key. What it returned is kept as long as the key exists. */
export function memoized<Key extends object, Value extends object | string | boolean>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
