/** The static and dynamic tables of HPACK (RFC 7541, section 2.3 and appendix A). */

/** A decoded field. Strings hold one character per byte. */
export type Field = {
  /** Empty if the name was too long to keep; see `nameBytes`. */
  readonly name: string;
  /** Undefined if the value was not requested or found no memory. */
  readonly value: string | undefined;
  readonly nameBytes: number;
  readonly valueBytes: number;
  /** Whether HTTP/2 allows these bytes in a name and in a value. */
  readonly isNameValid: boolean;
  readonly isValueValid: boolean;
};

/** Added to a field's bytes for the size of a table or header list. */
export const fieldOverheadBytes = 32;

export const sizeOf = ({ nameBytes, valueBytes }: Field): number => nameBytes + valueBytes + fieldOverheadBytes;

/** SETTINGS_HEADER_TABLE_SIZE, which this client leaves at its initial value. */
export const tableBytesMax = 4096;

const staticPairs: readonly (readonly [name: string, value: string])[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ['accept-language', ''],
  ['accept-ranges', ''],
  ['accept', ''],
  ['access-control-allow-origin', ''],
  ['age', ''],
  ['allow', ''],
  ['authorization', ''],
  ['cache-control', ''],
  ['content-disposition', ''],
  ['content-encoding', ''],
  ['content-language', ''],
  ['content-length', ''],
  ['content-location', ''],
  ['content-range', ''],
  ['content-type', ''],
  ['cookie', ''],
  ['date', ''],
  ['etag', ''],
  ['expect', ''],
  ['expires', ''],
  ['from', ''],
  ['host', ''],
  ['if-match', ''],
  ['if-modified-since', ''],
  ['if-none-match', ''],
  ['if-range', ''],
  ['if-unmodified-since', ''],
  ['last-modified', ''],
  ['link', ''],
  ['location', ''],
  ['max-forwards', ''],
  ['proxy-authenticate', ''],
  ['proxy-authorization', ''],
  ['range', ''],
  ['referer', ''],
  ['refresh', ''],
  ['retry-after', ''],
  ['server', ''],
  ['set-cookie', ''],
  ['strict-transport-security', ''],
  ['transfer-encoding', ''],
  ['user-agent', ''],
  ['vary', ''],
  ['via', ''],
  ['www-authenticate', ''],
];

export const knownField = (name: string, value: string): Field => ({
  name,
  value,
  nameBytes: name.length,
  valueBytes: value.length,
  isNameValid: true,
  isValueValid: true,
});

const staticFields: readonly Field[] = staticPairs.map(([name, value]) => knownField(name, value));

/** An index of the static table. `isWhole`: its value is the wanted one, too. */
type StaticIndex = { readonly index: number; readonly isWhole: boolean };

/** For each name the first index that has it, and for each value of that name the index of the whole field. */
const staticIndices = new Map<string, { readonly named: StaticIndex; readonly whole: Map<string, StaticIndex> }>();
for (const [at, [name, value]] of staticPairs.entries()) {
  const index = at + 1;
  const known = staticIndices.get(name) ?? { named: { index, isWhole: false }, whole: new Map() };
  staticIndices.set(name, known);
  known.whole.set(value, { index, isWhole: true });
}

/**
 * Returns the static table's index of the field, or else of a field with the same name; undefined if the table has
 * neither.
 */
export function staticIndex(name: string, value: string): StaticIndex | undefined {
  const known = staticIndices.get(name);
  return known?.whole.get(value) ?? known?.named;
}

export type HeaderTable = {
  /** Returns the field at an index from 1: the static fields first, then the dynamic ones, newest first. */
  readonly at: (index: number) => Field | undefined;
  /** Adds a field. A field larger than the table empties it. */
  readonly add: (field: Field) => void;
  /** Returns false if the size exceeds what this side allows. */
  readonly resize: (bytesMax: number) => boolean;
  readonly isEmpty: () => boolean;
};

export function headerTable(): HeaderTable {
  /** Oldest first. */
  const fields: Field[] = [];
  let bytes = 0;
  let bytesMax = tableBytesMax;
  const evict = () => {
    while (bytes > bytesMax) {
      const oldest = fields.shift();
      if (oldest === undefined) return;
      bytes -= sizeOf(oldest);
    }
  };
  return {
    at: (index) =>
      index <= staticFields.length ? staticFields[index - 1] : fields[fields.length - (index - staticFields.length)],
    add: (field) => {
      fields.push(field);
      bytes += sizeOf(field);
      evict();
    },
    resize: (wanted) => {
      if (wanted > tableBytesMax) return false;
      bytesMax = wanted;
      evict();
      return true;
    },
    isEmpty: () => fields.length === 0,
  };
}
