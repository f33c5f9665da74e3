/** Durations as Go writes them, because kubelet's texts carry them. */

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
