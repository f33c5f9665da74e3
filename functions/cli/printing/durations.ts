/** Durations: as options give them, and as kubectl prints ages. */
import { InvalidArgumentError } from 'commander';

const unitMs: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const durationMsMax = 24 * 3_600_000;

/** `500ms`, `30s`, `5m` or `1h`; a number alone counts seconds. @throws InvalidArgumentError */
export function milliseconds(text: string): number {
  const [, number = '', unit = 's'] = /^(\d{1,9})(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(number) * (unitMs[unit] ?? 0);
  if (number === '' || ms === 0 || ms > durationMsMax)
    throw new InvalidArgumentError('must be a duration such as 30s or 5m, of at most 24h');
  return ms;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** kubectl's HumanDuration (k8s.io/apimachinery/pkg/util/duration). */
export function ageText(ms: number): string {
  const seconds = Math.trunc(ms / 1_000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return parts(seconds, [minute, 'm'], [1, 's']);
  if (seconds < 3 * hour) return `${Math.trunc(seconds / minute)}m`;
  if (seconds < 8 * hour) return parts(seconds, [hour, 'h'], [minute, 'm']);
  if (seconds < 2 * day) return `${Math.trunc(seconds / hour)}h`;
  if (seconds < 8 * day) return parts(seconds, [day, 'd'], [hour, 'h']);
  if (seconds < 2 * year) return `${Math.trunc(seconds / day)}d`;
  if (seconds < 8 * year) return parts(seconds, [year, 'y'], [day, 'd']);
  return `${Math.trunc(seconds / year)}y`;
}

type Unit = readonly [seconds: number, name: string];

/** Two units, and only the larger one if nothing of the smaller is left. */
function parts(seconds: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.trunc((seconds % large) / small);
  return `${Math.trunc(seconds / large)}${largeName}${rest === 0 ? '' : `${rest}${smallName}`}`;
}

/** The time since an instant of the API. */
export const sinceText = (instant: string | undefined, nowMs: number): string =>
  instant === undefined ? '<none>' : ageText(nowMs - Date.parse(instant));
