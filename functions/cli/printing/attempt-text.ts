/** What one attempt of a probe met, for people: its phases, and why it did not succeed. */
import type { PhaseTimings } from '../../../shared/core/spec/types.ts';
import { visibleLine } from '../../../shared/lib/visible-text.ts';

export type ShownAttempt = {
  readonly timings: { readonly [phase in keyof PhaseTimings]?: number | undefined };
  readonly output: string;
  readonly error?: string | undefined;
  readonly failureClass?: string | undefined;
};

/** Each is indented. */
export const attemptLines = ({ timings, output, error, failureClass }: ShownAttempt): readonly string[] => [
  `  ${phasesText(timings)}`,
  ...[error ?? output].filter((text) => text !== '').map((text) => `  ${firstLine(text)}`),
  ...(failureClass ? [`  ${visibleLine(failureClass)}`] : []),
];

const phaseNames = { dnsMs: 'DNS', connectMs: 'connect', tlsMs: 'TLS', firstByteMs: 'first byte', totalMs: 'total' };

const phasesText = (timings: ShownAttempt['timings']): string =>
  (Object.keys(phaseNames) as (keyof PhaseTimings)[])
    .flatMap((phase) => {
      const ms = timings[phase];
      return ms === undefined ? [] : [`${phaseNames[phase]} ${ms.toFixed(1)} ms`];
    })
    .join(', ');

const outputCharactersMax = 200;

function firstLine(text: string): string {
  const [first = ''] = text.split('\n');
  const line = visibleLine(first);
  return line.length > outputCharactersMax ? `${line.slice(0, outputCharactersMax)}…` : line;
}
