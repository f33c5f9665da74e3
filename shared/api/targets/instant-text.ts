/** How the API writes an instant. */

const dayMs = 24 * 60 * 60 * 1_000;
const midnight = '00:00:00.000Z';
const twoDigits: readonly string[] = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));

/** A list writes thousands of instants, nearly all of the same day. */
let day = { beganAtMs: Number.NaN, text: '' };

/** RFC 3339 in milliseconds. All texts have the same length, so they sort like their instants. */
export const instantText = (timeMs: number): string => {
  const wholeMs = Math.trunc(timeMs);
  const ms = wholeMs - Math.floor(wholeMs / 1_000) * 1_000;
  return `${secondsOf(wholeMs - ms)}.${String(ms).padStart(3, '0')}Z`;
};

/** RFC 3339 in whole seconds, as Kubernetes writes the times of a status. */
export const secondText = (timeMs: number): string => `${secondsOf(Math.floor(timeMs / 1_000) * 1_000)}Z`;

/** The text of a whole second, without the zone. */
function secondsOf(secondMs: number): string {
  const beganAtMs = Math.floor(secondMs / dayMs) * dayMs;
  if (beganAtMs !== day.beganAtMs)
    day = { beganAtMs, text: new Date(beganAtMs).toISOString().slice(0, -midnight.length) };
  const seconds = (secondMs - beganAtMs) / 1_000;
  const hours = twoDigits[Math.floor(seconds / 3_600)];
  const minutes = twoDigits[Math.floor(seconds / 60) % 60];
  return `${day.text}${hours}:${minutes}:${twoDigits[seconds % 60]}`;
}
