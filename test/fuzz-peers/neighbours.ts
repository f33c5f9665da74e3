/** Fifty healthy targets beside the hostile ones, each probed once a second at a time of its own. */
import { systemClock as clock } from '../../shared/lib/clock.ts';
import type { Probers } from '../../shared/prober/prober.ts';

const count = 50;
const periodMs = 1_000;
const timeoutMs = 60_000;
const tickMs = periodMs / count;

export type Lateness = {
  /** From the time at which the probe was due until its end; infinite if it failed. */
  readonly ms: number;
  /** Of that, the CPU time of the prober's own thread, which no busy machine explains. Up to one tick too much. */
  readonly ownMs: number;
};

const ownCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Returns a function that waits for the probes under way and returns how late each ended since its last call. */
export function startNeighbours(probers: Probers, port: number): () => Promise<readonly Lateness[]> {
  let latenesses: Lateness[] = [];
  const underWay = new Set<Promise<void>>();
  const startMs = clock.monotonicMs();
  let seenCpuMs = ownCpuMs();

  const probe = async (dueMs: number, cpuMs: number) => {
    const request = { url: `http://127.0.0.1:${port}/`, headers: [], hostOverride: '', timeoutMs };
    const { outcome } = await probers.http({ kind: 'http', ...request });
    // One that failed beside a hostile peer was harmed by it.
    const ms = outcome === 'success' ? clock.monotonicMs() - dueMs : Number.POSITIVE_INFINITY;
    latenesses.push({ ms, ownMs: ownCpuMs() - cpuMs });
  };
  const schedule = (dueMs: number) => {
    clock.setTimer(Math.max(0, dueMs - clock.monotonicMs()), () => {
      const probed = probe(dueMs, seenCpuMs);
      underWay.add(probed);
      void probed.then(() => underWay.delete(probed));
      // Several that are late together have waited since the same time.
      if (clock.monotonicMs() - dueMs < tickMs) seenCpuMs = ownCpuMs();
      else
        setImmediate(() => {
          seenCpuMs = ownCpuMs();
        });
      schedule(dueMs + periodMs);
    });
  };
  for (let at = 0; at < count; at += 1) schedule(startMs + (at * periodMs) / count);

  return async () => {
    await Promise.all(underWay);
    const taken = latenesses;
    latenesses = [];
    return taken;
  };
}
