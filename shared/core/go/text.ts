/** Texts as Go writes them, because kubelet's errors carry them and people search for them. */

const named: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** strconv.Quote. */
export const goQuote = (text: string): string => `"${text.replace(/["\\]|[^ -~]/gu, quoted)}"`;

function quoted(c: string): string {
  if (named[c] !== undefined) return named[c];
  const code = c.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(c)) return c;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

const asciiSpaces: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d, 0x0a]);

/**
 * textproto.TrimString: removes spaces, tabs and line ends from both sides. `trim` would also remove a no-break space.
 * It looks at each character once, whereas `/[ \t]+$/` starts again at every blank inside the text.
 */
export function trimAscii(text: string): string {
  let from = 0;
  while (asciiSpaces.has(text.charCodeAt(from))) from += 1;
  return trimAsciiEnd(from === 0 ? text : text.slice(from));
}

export function trimAsciiEnd(text: string): string {
  let to = text.length;
  while (to > 0 && asciiSpaces.has(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(0, to);
}

/** strings.Trim of one character. */
export function trimOf(text: string, character: string): string {
  let [from, to] = [0, text.length];
  while (text[from] === character) from += 1;
  while (to > from && text[to - 1] === character) to -= 1;
  return text.slice(from, to);
}

export type ParsedInteger =
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'error'; readonly error: string };

const integerDigitsMax = 19;

/** strconv.Atoi on a 64-bit machine: an optional sign and decimal digits, nothing else. */
export function atoi(text: string): ParsedInteger {
  const refuse = (why: string): ParsedInteger => ({
    kind: 'error',
    error: `strconv.Atoi: parsing ${goQuote(text)}: ${why}`,
  });
  if (!/^[+-]?\d+$/.test(text)) return refuse('invalid syntax');
  // Leading zeros aside, a number of so many digits is out of range; converting a megabyte of digits would take
  // seconds.
  const digits = text.replace(/^[+-]?0*/, '');
  if (digits.length > integerDigitsMax) return refuse('value out of range');
  const exact = BigInt(`${text.startsWith('-') ? '-' : ''}${digits || '0'}`);
  return BigInt.asIntN(64, exact) === exact ? { kind: 'integer', value: Number(exact) } : refuse('value out of range');
}

// Durations as Go writes them, because kubelet's texts carry them.

const msPerSecond = 1000;
const msPerMinute = 60_000;
const msPerHour = 3_600_000;

/** `time.Duration` printed with `%v`: `500ms`, `1s`, `1.5s`, `1m0s`. Whole milliseconds. */
export function goDuration(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < msPerSecond) return `${ms}ms`;
  const seconds = `${(ms % msPerMinute) / msPerSecond}s`;
  if (ms < msPerMinute) return seconds;
  const minutes = `${Math.floor((ms % msPerHour) / msPerMinute)}m`;
  return ms < msPerHour ? minutes + seconds : `${Math.floor(ms / msPerHour)}h${minutes}${seconds}`;
}
