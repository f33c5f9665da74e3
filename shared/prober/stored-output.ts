/** What of a prober's output may be stored, published and logged: never a response body, at most 1 KiB. */
import type { Attempt, PhaseTimings } from '../core/types.ts';
import type { Prober, Probers } from './prober.ts';

export const outputBytesMax = 1024;

/** kubelet's text before the body of a redirect that was not followed. */
const redirectText = 'Probe terminated redirects';

/** The same probers, whose outputs may be kept (difference 6 of docs/semantics.md). */
export function withStorableOutput(probers: Probers): Probers {
  return Object.fromEntries(
    Object.entries(probers).map(([kind, prober]) => [kind, storable(prober as Prober)]),
  ) as unknown as Probers;
}

function storable(prober: Prober): Prober {
  return async (request, permit) => {
    const attempt = await prober(request, permit);
    return {
      ...attempt,
      output: cutOutput(request.kind === 'http' ? bodyless(attempt) : attempt.output),
      timings: rounded(attempt.timings),
      ...(attempt.error !== undefined && { error: cutOutput(attempt.error) }),
    };
  };
}

/** To the microsecond: what follows is noise that would be stored. */
const rounded = (timings: PhaseTimings): PhaseTimings =>
  Object.fromEntries(
    Object.entries(timings).map(([phase, ms]) => [phase, Math.round(ms * 1000) / 1000]),
  ) as PhaseTimings;

/** Of HTTP probes only a success or a warning carries the body. */
function bodyless({ outcome, output }: Attempt): string {
  switch (outcome) {
    case 'success':
      return '';
    case 'warning':
      return output.startsWith(redirectText) ? redirectText : '';
    case 'failure':
    case 'unknown':
      return output;
  }
}

function cutOutput(text: string): string {
  if (text.length * 3 <= outputBytesMax) return text;
  const bytes = new TextEncoder().encode(text);
  // Of a stream: a character that is cut in two at the limit is kept back for bytes that never come.
  return bytes.length <= outputBytesMax
    ? text
    : new TextDecoder().decode(bytes.subarray(0, outputBytesMax), { stream: true });
}

/** What an attempt leaves behind: its error, if it has one. */
export const outputOf = ({ output, error }: Attempt): string => error ?? output;
