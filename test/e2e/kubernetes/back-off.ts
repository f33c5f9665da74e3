/**
 * kubelet's crash-loop back-off (doBackOff of pkg/kubelet/kuberuntime, Backoff of client-go): it counts from the end of
 * the newest container that kubelet knows to have ended. Pure.
 */

const firstMs = 10_000;
const maxMs = 300_000;
/** An entry that is older by then does not count any more. */
const forgottenAfterMs = 2 * maxMs;

/** Of a container that has been started again. */
export type BackOff = { readonly ms: number; readonly updatedAtMs: number };

const isForgotten = ({ updatedAtMs }: BackOff, endedAtMs: number): boolean =>
  endedAtMs - updatedAtMs > forgottenAfterMs;

/** When the next container may start: at once, or so long after the end that counts. */
export function startsAtMs(backOff: BackOff | undefined, endedAtMs: number | undefined): number {
  if (backOff === undefined || endedAtMs === undefined || isForgotten(backOff, endedAtMs)) return 0;
  return endedAtMs + backOff.ms;
}

/** After a start. kubelet keeps none while it knows no container that has ended. */
export function nextBackOff(
  backOff: BackOff | undefined,
  endedAtMs: number | undefined,
  nowMs: number,
): BackOff | undefined {
  if (endedAtMs === undefined) return backOff;
  const isFirst = backOff === undefined || isForgotten(backOff, endedAtMs);
  return { ms: isFirst ? firstMs : Math.min(2 * backOff.ms, maxMs), updatedAtMs: nowMs };
}
