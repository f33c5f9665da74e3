/** Ages, as kubectl prints them. */
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
