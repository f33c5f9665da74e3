/**
 * Punycode (RFC 3492) as Go's x/net/idna writes it into a Host field: the labels of a name that is not ASCII, without
 * any mapping, so that `MÜNCHEN` keeps its capitals. WHATWG's `domainToASCII` maps first, and refuses more.
 */
import punycode from 'punycode.js';

const acePrefix = 'xn--';
/** Limit of a decoded label, as in Go. */
const codePointsMax = 1024;

/** idna.ToASCII; undefined: a label has the Punycode prefix but cannot be decoded, or is too long to be encoded. */
export function punycodeName(name: string): string | undefined {
  try {
    return name.split('.').map(encodedLabel).join('.');
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A label that begins with `xn--` has to decode, and to a text that needed encoding. */
function encodedLabel(label: string): string {
  if (!label.startsWith(acePrefix)) return encoded(label);
  const text = decoded(label.slice(acePrefix.length));
  if (text !== '' && isAscii(text)) throw new RangeError('the label needed no encoding');
  return encoded(text);
}

const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);
const encoded = (text: string): string => (isAscii(text) ? text : acePrefix + punycode.encode(text));

/** The library refuses what is not ASCII before the last hyphen. Go does not, so letters stand in for it. */
function decoded(label: string): string {
  const kept = Array.from(label.slice(0, Math.max(0, label.lastIndexOf('-'))));
  const letters = Array.from(punycode.decode('a'.repeat(kept.length) + label.slice(kept.join('').length)));
  if (letters.length > codePointsMax) throw new RangeError('the label is too long');
  // A Go string holds no surrogate: the conversion to a string replaces it.
  return letters
    .map((letter) => (isAscii(letter) ? kept.shift() : letter))
    .join('')
    .toWellFormed();
}
