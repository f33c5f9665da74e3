/**
 * Punycode (RFC 3492) as Go's x/net/idna writes it into a Host field: the labels of a name that is not ASCII, without
 * any mapping, so that `MÜNCHEN` keeps its capitals. WHATWG's `domainToASCII` maps first, and refuses more.
 */

const acePrefix = 'xn--';
const base = 36;
const tMin = 1;
const tMax = 26;
const skew = 38;
const damp = 700;
const initialBias = 72;
const firstNonAscii = 0x80;
const codePointMax = 0x10ffff;
/** Go counts in 32 bits and refuses what does not fit. */
const countMax = 0x7fffffff;
/** Limit of a decoded label, as in Go. */
const codePointsMax = 1024;

/** idna.ToASCII; undefined: a label has the Punycode prefix but cannot be decoded. */
export function punycodeName(name: string): string | undefined {
  const labels = name.split('.').map(encodedLabel);
  return labels.every((label) => label !== undefined) ? labels.join('.') : undefined;
}

/** A label that begins with `xn--` has to decode, and to a text that needed encoding. */
function encodedLabel(label: string): string | undefined {
  if (!label.startsWith(acePrefix)) return encode(codePointsOf(label));
  const decoded = decode(label.slice(acePrefix.length));
  if (decoded === undefined) return undefined;
  return decoded.length > 0 && !decoded.some(isBeyondAscii) ? undefined : encode(decoded);
}

const codePointsOf = (text: string): readonly number[] => Array.from(text, (c) => c.codePointAt(0) ?? 0);
const isBeyondAscii = (codePoint: number): boolean => codePoint >= firstNonAscii;

/**
 * Inserts each code point beyond ASCII, in order of its value, as the distance from the previous one. The time is the
 * number of different code points times the length, which is harmless because a header has at most 1 KiB.
 */
function encode(label: readonly number[]): string | undefined {
  const ascii = label.filter((codePoint) => !isBeyondAscii(codePoint));
  const basic = String.fromCodePoint(...ascii);
  if (ascii.length === label.length) return basic;
  const wanted = [...new Set(label.filter(isBeyondAscii))].sort((a, b) => a - b);
  let [output, at, handled, bias] = [
    `${acePrefix}${basic}${basic === '' ? '' : '-'}`,
    firstNonAscii,
    ascii.length,
    initialBias,
  ];
  let delta = 0;
  for (const next of wanted) {
    delta += (next - at) * (handled + 1);
    for (const codePoint of label) {
      if (codePoint < next) delta += 1;
      if (delta > countMax) return undefined;
      if (codePoint !== next) continue;
      output += digitsOf(delta, bias);
      bias = adapted(delta, handled + 1, handled === ascii.length);
      delta = 0;
      handled += 1;
    }
    delta += 1;
    at = next + 1;
  }
  return output;
}

/** A number in digits of mixed radix, the last of which is below its threshold. */
function digitsOf(delta: number, bias: number): string {
  let [digits, rest] = ['', delta];
  for (let k = base; ; k += base) {
    const threshold = thresholdAt(k, bias);
    if (rest < threshold) return digits + digit(rest);
    digits += digit(threshold + ((rest - threshold) % (base - threshold)));
    rest = Math.trunc((rest - threshold) / (base - threshold));
  }
}

const thresholdAt = (k: number, bias: number): number => Math.min(tMax, Math.max(tMin, k - bias));

const digits36 = 'abcdefghijklmnopqrstuvwxyz0123456789';
const digit = (value: number): string => digits36.charAt(value);

function adapted(delta: number, points: number, isFirst: boolean): number {
  let rest = Math.trunc(delta / (isFirst ? damp : 2));
  rest += Math.trunc(rest / points);
  let k = 0;
  for (; rest > ((base - tMin) * tMax) / 2; k += base) rest = Math.trunc(rest / (base - tMin));
  return k + Math.trunc(((base - tMin + 1) * rest) / (rest + skew));
}

function decode(encoded: string): readonly number[] | undefined {
  const dash = encoded.lastIndexOf('-');
  if (dash === 0) return undefined;
  const decoded = [...codePointsOf(encoded.slice(0, Math.max(0, dash)))];
  const digits = [...encoded.slice(dash + 1)].map(digitValue).values();
  let [at, place, bias] = [firstNonAscii, 0, initialBias];
  for (let first = digits.next(); !first.done; first = digits.next()) {
    const distance = distanceOf(first.value, digits, bias);
    if (distance === undefined || decoded.length >= codePointsMax) return undefined;
    const points = decoded.length + 1;
    bias = adapted(distance, points, place === 0);
    at += Math.trunc((place + distance) / points);
    place = (place + distance) % points;
    if (at > codePointMax) return undefined;
    decoded.splice(place, 0, at);
    place += 1;
  }
  return decoded.map((codePoint) => (isSurrogate(codePoint) ? replacement : codePoint));
}

/** A Go string holds no surrogate: the conversion to a string replaces it. */
const isSurrogate = (codePoint: number): boolean => codePoint >= 0xd800 && codePoint <= 0xdfff;
const replacement = 0xfffd;

/**
 * The number that begins with the digit `first`; undefined: it contains a character that is no digit, does not end, or
 * is too large.
 */
function distanceOf(first: number, rest: Iterator<number, undefined>, bias: number): number | undefined {
  let [distance, weight] = [0, 1];
  let value: number | undefined = first;
  for (let k = base; ; k += base) {
    if (value === undefined || value < 0) return undefined;
    distance += value * weight;
    const threshold = thresholdAt(k, bias);
    if (distance > countMax) return undefined;
    if (value < threshold) return distance;
    weight *= base - threshold;
    value = rest.next().value;
  }
}

/** In either case of ASCII; -1: no digit. JavaScript's lower case of the Kelvin sign would be a k. */
const digitValue = (c: string): number => digits36.indexOf(/^[A-Z]$/.test(c) ? c.toLowerCase() : c);
