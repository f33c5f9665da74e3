/** The incarnations of static containers as their status tells of them, held against the back-off of the oracle. */
import { worldStartMs } from '../clock.ts';
import { backoffAfterMs, backoffForgottenMs } from '../oracle/timing.ts';
import { smallSkewMs } from './skew.ts';

type Container = {
  readonly name: string;
  readonly restartCount: number;
  readonly state?: { readonly kind: string; readonly startedAtMs?: number };
  readonly lastState?: { readonly finishedAtMs?: number };
};

export type Incarnations = {
  readonly uid: string;
  readonly incarnations: { readonly [container: string]: unknown };
  readonly status: {
    readonly containerStatuses: readonly Container[];
    readonly initContainerStatuses: readonly Container[];
  };
};

/** True times, ms since the epoch. A status may be written long after its times were decided, so they may lie before it. */
type Seen = {
  readonly restartCount: number;
  readonly sinceMs: number;
  /** Absent: it has not been seen not to run. */
  readonly endedMs?: number;
  /** The least that the next restart has to wait. */
  readonly backoffMs: number;
};

export type StaticRestarts = {
  /** The containers that have been restarted since the status before. */
  follow(status: Incarnations, timeMs: number): readonly string[];
  forget(uid: string): void;
};

type Violated = (uid: string, container: string, detail: string) => void;

const skewMs = 2 * smallSkewMs;

export function staticRestarts(violated: Violated): StaticRestarts {
  const seen = new Map<string, Map<string, Seen>>();

  const follow = ({ uid, incarnations, status }: Incarnations, timeMs: number): readonly string[] => {
    const wallMs = worldStartMs + timeMs;
    const known = seen.get(uid) ?? new Map<string, Seen>();
    seen.set(uid, known);
    const restarted: string[] = [];
    for (const container of [...status.containerStatuses, ...status.initContainerStatuses]) {
      const { name, restartCount, state } = container;
      if (incarnations[name] === undefined) continue;
      const before = known.get(name);
      const endedMs = Math.min(wallMs, container.lastState?.finishedAtMs ?? wallMs);
      if (!before) known.set(name, { restartCount, sinceMs: startOf(container, wallMs), backoffMs: 0 });
      else if (restartCount === before.restartCount) {
        if (state?.kind !== 'running' && before.endedMs === undefined) known.set(name, { ...before, endedMs });
      } else {
        restarted.push(name);
        known.set(
          name,
          restart(before, { container, wallMs, endedMs }, (detail) => violated(uid, name, detail)),
        );
      }
    }
    return restarted;
  };

  return { follow, forget: (uid) => void seen.delete(uid) };
}

const startOf = ({ state }: Container, wallMs: number): number => Math.min(wallMs, state?.startedAtMs ?? wallMs);

type Restarted = { readonly container: Container; readonly wallMs: number; readonly endedMs: number };

/** Whether the container ran for long enough for its back-off to begin anew is not sure within the difference of two clocks. */
function restart(before: Seen, { container, wallMs, endedMs }: Restarted, violated: (detail: string) => void): Seen {
  const { restartCount } = container;
  if (restartCount !== before.restartCount + 1) violated(`was restarted ${restartCount - before.restartCount} times`);
  const killedMs = before.endedMs ?? endedMs;
  const isForgotten = killedMs - before.sinceMs >= backoffForgottenMs - skewMs;
  const wantedMs = isForgotten ? 0 : before.backoffMs;
  if (wallMs - killedMs < wantedMs - skewMs)
    violated(`was restarted ${wallMs - killedMs} ms after it was killed, its back-off is ${wantedMs} ms`);
  return { restartCount, sinceMs: startOf(container, wallMs), backoffMs: backoffAfterMs(wantedMs) };
}
