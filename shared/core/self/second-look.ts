/**
 * When a prober has a second place look at what fails here, and what it makes of the answer. Canaries show that the
 * network works; they do not show that this sandbox reaches its targets. Pure.
 */
import type { ProbeReport } from '../kubelet/probe-report.ts';

/** An answer that agrees holds for this long. */
export const lookWindowMs = 60_000;
/** The last results of probes over the network, but for failures of targets that are known as failed. */
export const recentMax = 10;
/** A single target that fails asks for no look, up to the default `failureThreshold`. */
const failuresMax = 3;

/** Targets that are probed a second time. */
export const sampleMax = 5;

/**
 * `failures`: of the last `recentMax` results. With a `failureThreshold` above 1 this is so before the first of many
 * failing targets turns unhealthy, however long their periods are.
 */
export const needsSecondLook = (failures: number): boolean => failures > failuresMax;

/** How many of the sample failed and succeeded in the second place. */
export type Seen = { readonly failed: number; readonly succeeded: number };

/** A prober error counts as neither. */
export function seenIn(reports: readonly ProbeReport[]): Seen {
  const count = (result: 'failure' | 'success') =>
    reports.filter(({ conclusion }) => conclusion.kind === 'result' && conclusion.result === result).length;
  return { failed: count('failure'), succeeded: count('success') };
}

/** Whether the second place sees most of the sample succeed: then what fails is on the way from here. */
export const contradicts = ({ failed, succeeded }: Seen): boolean => succeeded > failed;
