/** What a machine that does not run a process for a while costs its measurements. */

const everyMs = 20;
/** Shorter ones are usual. */
const worthMs = 50;

/** `endedAtMs`: wall time. */
export type Standstill = { readonly endedAtMs: number; readonly ms: number };

/** The longest of those that ended after this wall time. */
export const longestSince = (standstills: readonly Standstill[], fromMs: number): number =>
  Math.max(0, ...standstills.filter(({ endedAtMs }) => endedAtMs > fromMs).map(({ ms }) => ms));

/**
 * Begins to watch this process. The result returns when it should have run and neither ran nor computed: a turn that
 * computes for long is the process' own, and is not counted.
 */
export function watchStandstills(): () => readonly Standstill[] {
  const standstills: Standstill[] = [];
  let at = performance.now();
  let computed = process.cpuUsage();
  setInterval(() => {
    const { user, system } = process.cpuUsage(computed);
    const ms = performance.now() - at - everyMs - (user + system) / 1_000;
    if (ms > worthMs) standstills.push({ endedAtMs: Date.now(), ms: Math.round(ms) });
    at = performance.now();
    computed = process.cpuUsage();
  }, everyMs).unref();
  return () => standstills;
}
