/** Durations as Go reads them: `30s`, `1m30s`, `1.5h`, `500ms`. Compose reads days and weeks, too. */

const secondsOf: { readonly [unit: string]: number } = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  // The Greek letter.
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
};

const parts = {
  go: /^(\d{0,18}(?:\.\d{0,18})?)(ns|us|µs|μs|ms|s|m|h)/,
  compose: /^(\d{0,18}(?:\.\d{0,18})?)(ns|us|µs|μs|ms|s|m|h|d|w)/,
};

const partsMax = 100;
/** As Go counts nanoseconds in 64 bits. */
const secondsMax = 2 ** 63 / 1e9;

/** The duration in seconds; undefined: it is not a duration, or negative. */
export function durationSeconds(value: unknown, grammar: keyof typeof parts = 'go'): number | undefined {
  if (value === 0) return 0;
  const text = typeof value === 'string' ? value : '';
  if (/^[-+]?0$/.test(text)) return 0;
  let rest = text.replace(/^\+/, '');
  let seconds = 0;
  for (let count = 0; count === 0 || rest !== ''; count += 1) {
    const [all = '', number = '', unit = ''] = parts[grammar].exec(rest) ?? [];
    if (!/\d/.test(number) || count === partsMax) return undefined;
    seconds += Number(number) * (secondsOf[unit] ?? 0);
    rest = rest.slice(all.length);
  }
  return seconds < secondsMax ? seconds : undefined;
}

/** Rounds up to whole seconds, at least one and at most `max`, as a probe has them. */
export const wholeSeconds = (seconds: number, max: number): number =>
  Math.min(max, Math.max(1, Math.ceil(Number(seconds.toFixed(6)))));
