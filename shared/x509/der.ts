/**
 * DER as Go's cryptobyte reads it: single-byte tags, lengths of minimal form in at most four bytes, minimal integers.
 * OpenSSL takes some encodings that this refuses, and the other way round.
 */

export const tags = {
  boolean: 1,
  integer: 2,
  bitString: 3,
  octetString: 4,
  objectIdentifier: 6,
  utf8String: 12,
  numericString: 18,
  printableString: 19,
  t61String: 20,
  ia5String: 22,
  utcTime: 23,
  generalizedTime: 24,
  bmpString: 30,
  sequence: 0x30,
  set: 0x31,
} as const;

export const contextSpecific = (number: number): number => 0x80 | number;
export const constructed = (number: number): number => 0xa0 | number;

export type Element = {
  readonly tag: number;
  /** With tag and length. */
  readonly whole: Buffer;
  readonly content: Buffer;
};

const highTagNumber = 0x1f;
const longForm = 0x80;
const lengthBytesMax = 4;

/** Reads one element after the other. Each method returns undefined if there is none of that kind. */
export class Der {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isEmpty(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Whether an element with this tag follows, complete or not. */
  isNext(tag: number): boolean {
    return this.#bytes[this.#at] === tag;
  }

  any(): Element | undefined {
    const [tag, first] = [this.#bytes[this.#at], this.#bytes[this.#at + 1]];
    if (tag === undefined || first === undefined || (tag & highTagNumber) === highTagNumber) return undefined;
    const length = first < longForm ? first : this.#longLength(first & ~longForm);
    if (length === undefined) return undefined;
    const contentAt = this.#at + 2 + (first < longForm ? 0 : first & ~longForm);
    const end = contentAt + length;
    if (end > this.#bytes.length) return undefined;
    const whole = this.#bytes.subarray(this.#at, end);
    const content = this.#bytes.subarray(contentAt, end);
    this.#at = end;
    return { tag, whole, content };
  }

  #longLength(bytes: number): number | undefined {
    const from = this.#at + 2;
    if (bytes === 0 || bytes > lengthBytesMax || from + bytes > this.#bytes.length) return undefined;
    const length = this.#bytes.readUIntBE(from, bytes);
    const isMinimal = length >= longForm && this.#bytes[from] !== 0;
    return isMinimal ? length : undefined;
  }

  /** The content of the next element, which must have the tag. */
  read(tag: number): Buffer | undefined {
    const element = this.any();
    return element?.tag === tag ? element.content : undefined;
  }

  /** The elements inside the next one, which must have the tag. */
  into(tag: number): Der | undefined {
    const content = this.read(tag);
    return content && new Der(content);
  }

  integer(tag: number = tags.integer): Buffer | undefined {
    const content = this.read(tag);
    return content && isMinimalInteger(content) ? content : undefined;
  }

  boolean(): boolean | undefined {
    const content = this.read(tags.boolean);
    if (content?.length !== 1) return undefined;
    return content[0] === 0 ? false : content[0] === 0xff ? true : undefined;
  }

  /** In dotted form. Each number is below 2³¹. */
  objectIdentifier(): string | undefined {
    const content = this.read(tags.objectIdentifier);
    return content && dotted(content);
  }

  bitString(): BitString | undefined {
    const content = this.read(tags.bitString);
    const padding = content?.[0];
    if (content === undefined || padding === undefined || padding > 7) return undefined;
    const bits = content.subarray(1);
    const last = bits.at(-1);
    const isClean = last === undefined ? padding === 0 : (last & ((1 << padding) - 1)) === 0;
    return isClean ? { bits, padding } : undefined;
  }
}

/** `padding`: how many of the last bits do not count. */
export type BitString = { readonly bits: Buffer; readonly padding: number };

function isMinimalInteger(content: Buffer): boolean {
  const [first, second] = content;
  if (first === undefined) return false;
  if (second === undefined) return true;
  return !(first === 0 && second < 0x80) && !(first === 0xff && second >= 0x80);
}

export const isNegative = (integer: Buffer): boolean => (integer[0] ?? 0) >= 0x80;

/** The number without its sign byte. */
export const magnitude = (integer: Buffer): Buffer => (integer[0] === 0 ? integer.subarray(1) : integer);

const numberMax = 2 ** 31 - 1;
const subIdentifierBytesMax = 5;

function dotted(content: Buffer): string | undefined {
  const numbers: number[] = [];
  let number = 0;
  let length = 0;
  for (const byte of content) {
    if (length === 0 && byte === 0x80) return undefined;
    number = number * 0x80 + (byte & 0x7f);
    length += 1;
    if (number > numberMax || length > subIdentifierBytesMax) return undefined;
    if (byte >= 0x80) continue;
    numbers.push(number);
    [number, length] = [0, 0];
  }
  const [first, ...others] = numbers;
  if (first === undefined || length > 0) return undefined;
  const root = Math.min(Math.floor(first / 40), 2);
  return [root, first - root * 40, ...others].join('.');
}
