/**
 * How many descriptors the machine lets the probes of a process hold. It is learned from refusals: a refusal lowers the
 * limit to less than what is held at that moment, and without refusals it rises in steps to what was configured.
 */

export type SocketLimit = {
  readonly max: number;
  /** What was held at the last refusal. */
  readonly refusedAt: number;
  /** Monotonic time of the last refusal or step. */
  readonly sinceMs: number;
};

export const notRefused = (max: number): SocketLimit => ({ max, refusedAt: 0, sinceMs: 0 });

/** No refusal lowers the limit further: enough for one command that hangs, which may use half of it. */
export const socketsMin = 8;
/** Part of what is held that becomes free, for what is no probe: canaries, DNS, connections to the API, files. */
const sparePart = 1 / 8;
const spareMin = 4;

const stepMs = 10_000;
/** A step, as a part of the limit: careful up to the last refusal, which is then met about once a minute. */
const carefulStep = 1 / 32;
/** With more than was held at the last refusal the machine evidently carries more: minutes for all of 700. */
const boldStep = 1 / 8;

/** The limit after the machine has refused a socket while probes hold `held` descriptors. It never rises. */
export function afterRefusal({ max }: Pick<SocketLimit, 'max'>, held: number, nowMs: number): SocketLimit {
  const carried = held - Math.max(spareMin, Math.ceil(held * sparePart));
  return { max: Math.min(max, Math.max(socketsMin, carried)), refusedAt: held, sinceMs: nowMs };
}

/** The limit after the steps that are due; the same object if none is. `configuredMax`: it rises no further. */
export function risen(limit: SocketLimit, configuredMax: number, nowMs: number): SocketLimit {
  const steps = Math.floor((nowMs - limit.sinceMs) / stepMs);
  if (steps < 1) return limit;
  let { max } = limit;
  for (let step = 0; step < steps && max < configuredMax; step += 1)
    max += Math.ceil(max * (max < limit.refusedAt ? carefulStep : boldStep));
  return { ...limit, max: Math.min(max, configuredMax), sinceMs: limit.sinceMs + steps * stepMs };
}
