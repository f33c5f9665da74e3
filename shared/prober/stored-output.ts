/** The part of a prober's output that may be stored, published and logged: never a response body, at most 1 KiB. */

import type { ProbeRequest } from '../core/spec/handlers.ts';
import { type Attempt, type PhaseTimings, partPhases } from '../core/spec/types.ts';
import type { Prober, Probers } from './prober.ts';

export const storedOutputBytesMax = 1024;

/** kubelet's text before the body of a redirect that was not followed. */
const redirectText = 'Probe terminated redirects';

/** The same probers with outputs that may be kept (difference 6 of docs/semantics.md). */
export function withStorableOutput(probers: Probers): Probers {
  return Object.fromEntries(
    Object.entries(probers).map(([kind, prober]) => [kind, storable(prober as Prober)]),
  ) as unknown as Probers;
}

const storable =
  (prober: Prober): Prober =>
  (request, permit) =>
    prober(request, permit).then((attempt) => storedAttempt(request.kind, attempt));

function storedAttempt(kind: ProbeRequest['kind'], attempt: Attempt): Attempt {
  const stored = {
    ...attempt,
    output: cutOutput(kind === 'http' ? bodyless(attempt) : attempt.output),
    timings: rounded(attempt.timings),
  };
  return attempt.error === undefined ? stored : { ...stored, error: cutOutput(attempt.error) };
}

/** To the microsecond: further digits are noise that would be stored. */
function rounded(timings: PhaseTimings): PhaseTimings {
  const whole: { -readonly [Phase in keyof PhaseTimings]: PhaseTimings[Phase] } = {
    totalMs: toMicros(timings.totalMs),
  };
  for (const phase of partPhases) {
    const ms = timings[phase];
    if (ms !== undefined) whole[phase] = toMicros(ms);
  }
  return whole;
}

const toMicros = (ms: number): number => Math.round(ms * 1000) / 1000;

/** Of HTTP probes only a success or a warning contains the body. */
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
  if (text.length * 3 <= storedOutputBytesMax) return text;
  const bytes = new TextEncoder().encode(text);
  // With `stream` the decoder holds back a character that the limit cuts in two.
  return bytes.length <= storedOutputBytesMax
    ? text
    : new TextDecoder().decode(bytes.subarray(0, storedOutputBytesMax), { stream: true });
}

/** The stored text of an attempt: its error, if it has one. */
export const outputOf = ({ output, error }: Attempt): string => error ?? output;
