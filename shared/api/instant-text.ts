/** How the API writes an instant. */

const dayMs = 24 * 60 * 60 * 1_000;
const midnight = '00:00:00.000Z';
const twoDigits: readonly string[] = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));

/** A list writes thousands of instants, nearly all of the same day. */
let day = { beganAtMs: Number.NaN, text: '' };

/** RFC 3339, in whole seconds where there are no others, as Kubernetes writes it. */
export function instantText(timeMs: number): string {
  const wholeMs = Math.trunc(timeMs);
  const beganAtMs = Math.floor(wholeMs / dayMs) * dayMs;
  if (beganAtMs !== day.beganAtMs)
    day = { beganAtMs, text: new Date(beganAtMs).toISOString().slice(0, -midnight.length) };
  const ms = (wholeMs - beganAtMs) % 1_000;
  const seconds = (wholeMs - beganAtMs - ms) / 1_000;
  const hours = twoDigits[Math.floor(seconds / 3_600)];
  const minutes = twoDigits[Math.floor(seconds / 60) % 60];
  const fraction = ms === 0 ? '' : `.${String(ms).padStart(3, '0')}`;
  return `${day.text}${hours}:${minutes}:${twoDigits[seconds % 60]}${fraction}Z`;
}
