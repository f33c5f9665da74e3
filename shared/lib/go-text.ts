/** How Go prints what kubelet's texts contain, so that a text is the same to the letter. */

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

const escapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

const asciiMax = 0x7f;
const basicPlaneMax = 0xffff;

/** A string printed with `%q`. */
export const goQuote = (text: string): string =>
  `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => escapes[character] ?? escaped(character))}"`;

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const hex = point.toString(16);
  if (point <= asciiMax) return `\\x${hex.padStart(2, '0')}`;
  return point <= basicPlaneMax ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
