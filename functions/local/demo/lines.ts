/** Formats events and a target's event history for `npm run demo`. */
import type { EventEnvelope } from '../../../shared/bus/bus.ts';

/** Returns one line, or undefined if the event does not concern a target. */
export function eventLine({ 'detail-type': type, detail }: EventEnvelope): string | undefined {
  if ('result' in detail && 'version' in detail) {
    const result = detail.previousResult ? `${detail.previousResult} -> ${detail.result}` : `${detail.result}`;
    return `${type}: ${detail.probeType} ${result}${detail.output && ` (${detail.output})`}`;
  }
  if ('newStatus' in detail)
    return `${type}: ${conditionsText(detail.newStatus)}, ${containersText(detail.newStatus.containers)}`;
  if ('attempt' in detail) return `${type}: attempt ${detail.attempt}, ${detail.message}`;
  return 'message' in detail ? `${type}: ${detail.message}` : undefined;
}

type Conditions = { readonly conditions: readonly { readonly type: string; readonly status: string }[] };

const conditionsText = ({ conditions }: Conditions): string =>
  conditions.map(({ type, status }) => `${type}=${status}`).join(' ');

export const isReadyIn = ({ conditions }: Conditions): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

type Shown = {
  readonly name: string;
  readonly started: boolean;
  readonly ready: boolean;
  readonly restartCount: number;
};

const containersText = (containers: readonly Shown[]): string =>
  containers
    .map((each) => `${each.name}: started=${each.started} ready=${each.ready} restarts=${each.restartCount}`)
    .join('; ');

/** An entry of `GET …/events`. */
export type HistoryEntry = {
  readonly time: string;
  readonly reason: string;
  readonly message: string;
  readonly attempts: readonly {
    readonly output: string;
    readonly failureClass?: string;
    readonly timings: { readonly totalMs: number };
  }[];
};

/** Each entry is followed by its attempts, one per line. */
export const historyLines = (entries: readonly HistoryEntry[]): readonly string[] =>
  entries.flatMap(({ time, reason, message, attempts }) => [
    `${time.slice(11, 23)}  ${reason.padEnd(18)} ${message}`,
    ...attempts.map(
      ({ failureClass = 'success', output, timings }) =>
        `${' '.repeat(35)}${failureClass} in ${timings.totalMs} ms ${output}`,
    ),
  ]);
