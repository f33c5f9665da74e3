/** DynamoDB's rule for the size of an item ("DynamoDB item sizes and formats"), so that every adapter refuses alike. */
import { trimOf } from '../core/go/text.ts';

/** The largest item, including attribute names in UTF-8. */
export const itemBytesMax = 400 * 1024;

/** The overhead of a list or map, and of each of its elements. */
const documentBytes = 3;
const elementBytes = 1;

export function itemBytes(item: { readonly [attribute: string]: unknown }): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);
}

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberBytes(value);
  if (typeof value !== 'object') return value === undefined ? 0 : 1;
  if (value === null) return 1;
  const elements = Array.isArray(value) ? value : Object.values(value);
  const names = Array.isArray(value) ? [] : Object.keys(value);
  const contents = elements.reduce((sum: number, element) => sum + valueBytes(element) + elementBytes, 0);
  return documentBytes + contents + names.reduce((sum, name) => sum + Buffer.byteLength(name), 0);
}

/** One byte for every two significant digits, one more, and one for a negative sign. */
function numberBytes(value: number): number {
  const [written = ''] = String(Math.abs(value)).split('e', 1);
  const digits = trimOf(written.replace('.', ''), '0');
  return Math.ceil(digits.length / 2) + 1 + (value < 0 ? 1 : 0);
}
