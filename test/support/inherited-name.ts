/** A name that every object has for a time, as it has `constructor`. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A name of a target, a container, a label, a variable, a header and a field alike. */
export const inheritedName = 'inheritedbyall';

const root = pathToFileURL(join(import.meta.dirname, '../..')).href;
const product = new RegExp(`\\(?(${root}/(?:shared|functions)/[^\\s)]*:\\d+):\\d+\\)?$`);

/**
 * The lines of the product that find or set the name in an object in which nothing put it. Code that asks for an own
 * entry first, or has a Map, is not among them.
 */
export async function lookupsDuring(act: () => unknown): Promise<readonly string[]> {
  const found = new Set<string>();
  const note = (): void => {
    // The error, this function and the accessor are above the line that asks.
    const line = new Error().stack?.split('\n')[3] ?? '';
    const [, place] = product.exec(line) ?? [];
    if (place !== undefined) found.add(place.replace(`${root}/`, ''));
  };
  Object.defineProperty(Object.prototype, inheritedName, {
    configurable: true,
    get() {
      note();
      return undefined;
    },
    set(value: unknown) {
      note();
      Object.defineProperty(this, inheritedName, { value, configurable: true, enumerable: true, writable: true });
    },
  });
  try {
    await act();
  } finally {
    Reflect.deleteProperty(Object.prototype, inheritedName);
  }
  return [...found].toSorted();
}
