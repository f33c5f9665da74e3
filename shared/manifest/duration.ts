/** Durations as Go reads them, which Compose and Gatus use: `30s`, `1m30s`, `1.5h`, `500ms`. */

const secondsOf: { readonly [unit: string]: number } = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3_600,
};

const partsMax = 8;

/** In seconds. Undefined: it is no duration, or negative. */
export function durationSeconds(value: unknown): number | undefined {
  if (value === 0 || value === '0') return 0;
  let rest = typeof value === 'string' ? value : '';
  let seconds = 0;
  for (let parts = 0; parts === 0 || rest !== ''; parts += 1) {
    const [all = '', number = '', unit = ''] = /^(\d{1,12}(?:\.\d{1,12})?)(ns|us|µs|ms|s|m|h)/.exec(rest) ?? [];
    if (all === '' || parts === partsMax) return undefined;
    seconds += Number(number) * (secondsOf[unit] ?? 0);
    rest = rest.slice(all.length);
  }
  return seconds;
}

/** A probe has whole seconds, at least one and at most so many. */
export const wholeSeconds = (seconds: number, max: number): number =>
  Math.min(max, Math.max(1, Math.ceil(Number(seconds.toFixed(6)))));
