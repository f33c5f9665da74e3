/** Whether an item may be over a size: never less than shared/store/item-size.ts counts, and much cheaper. */

const numberBytesMax = 22;
/** What each element of a document costs, and the document itself. */
const elementBytesMax = 4;
const bytesPerUnitMax = 3;

export function mayExceed(item: { readonly [attribute: string]: unknown }, bytesMax: number): boolean {
  return documentBound(item) > bytesMax;
}

function documentBound(document: object): number {
  let bytes = elementBytesMax;
  for (const name of Object.keys(document))
    bytes += bytesPerUnitMax * name.length + valueBound((document as { readonly [name: string]: unknown })[name]);
  return bytes;
}

function valueBound(value: unknown): number {
  if (typeof value === 'string') return bytesPerUnitMax * value.length + elementBytesMax;
  if (typeof value !== 'object' || value === null) return numberBytesMax + elementBytesMax;
  return documentBound(value) + elementBytesMax;
}
