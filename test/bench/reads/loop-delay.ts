/**
 * Loaded into a process of the product by `--import`: on SIGUSR2 it writes what its event loop did since the last time,
 * as JSON, to the file that the environment names. The CPU of the thread is what other programs on the machine do not
 * change.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

export type LoopDelay = {
  /** How often it was asked. */
  readonly count: number;
  /** The longest time for which the event loop was blocked, in ms. */
  readonly blockedMs: number;
  /** The most CPU that its thread used without a turn of the timers, in ms. */
  readonly blockedCpuMs: number;
  /** All CPU of its thread, in ms. */
  readonly cpuMs: number;
};

const resolutionMs = 1;
const nanosecondsPerMs = 1e6;
const microsecondsPerMs = 1e3;

const path = process.env.PROBELET_BENCH_LOOP_DELAY ?? '';
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();

const cpuMsNow = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / microsecondsPerMs;
};

let [count, turnCpuMs, sinceCpuMs, blockedCpuMs] = [0, cpuMsNow(), cpuMsNow(), 0];

function turn(): void {
  const nowCpuMs = cpuMsNow();
  blockedCpuMs = Math.max(blockedCpuMs, nowCpuMs - turnCpuMs);
  turnCpuMs = nowCpuMs;
}
setInterval(turn, resolutionMs).unref();

process.on('SIGUSR2', () => {
  turn();
  count += 1;
  const blockedMs = delay.max / nanosecondsPerMs - resolutionMs;
  const said: LoopDelay = { count, blockedMs, blockedCpuMs, cpuMs: turnCpuMs - sinceCpuMs };
  writeFileSync(`${path}.new`, JSON.stringify(said));
  renameSync(`${path}.new`, path);
  delay.reset();
  [turnCpuMs, blockedCpuMs] = [cpuMsNow(), 0];
  sinceCpuMs = turnCpuMs;
});
