/** Another release is deployed while the product works. */
import assert from 'node:assert/strict';
import { type Figure, unjudged } from '../../../support/figures.ts';
import { until } from '../../../support/wait.ts';
import { type Cloud, functionParts, probeletApp } from '../cloud.ts';
import { requireNoFailures } from './kill.ts';
import type { Shop } from './shop.ts';

/** MB of the prober, which are part of what a release is. */
const next = probeletApp({ memorySize: 320 });

/** The emulator ends an invocation when its function changes, so here a deployment costs as much as a crash. */
const resumedMsMax = 30_000;
/** The schedule of the emulator comes a minute after the one before, and is looked for every 10 s. */
const askedForMs = 90_000;

export async function redeployed(cloud: Cloud, { web }: Shop): Promise<readonly Figure[]> {
  const pid = cloud.emulator.pid(functionParts.prober);
  const before = releases(cloud).at(-1);
  const beganMs = Date.now();
  await cloud.cdk.deploy(next);
  await until('another process runs the prober', resumedMsMax, () => cloud.emulator.pid(functionParts.prober) !== pid);
  const begunMs = Date.now();
  await until('targets are probed again', resumedMsMax, () => web.seen.some(({ atMs }) => atMs > begunMs));
  requireNoFailures(cloud, beganMs);
  await until('the schedule asks for the new release', askedForMs, () => releases(cloud).at(-1) !== before);
  assert.equal(new Set(releases(cloud)).size, 2, releases(cloud).join(', '));
  return [
    unjudged(
      'longest pause between two probes of a target while a release is deployed',
      longestPause(web.seen, beganMs),
    ),
  ];
}

/** What the schedule has asked for, one after the other. */
const releases = ({ emulator }: Cloud): readonly string[] =>
  emulator
    .log(functionParts.schedule)
    .flatMap(({ desiredRelease }) => (desiredRelease ? [String(desiredRelease)] : []));

function longestPause(seen: readonly { readonly atMs: number }[], sinceMs: number): string {
  const instants = [sinceMs, ...seen.map(({ atMs }) => atMs).filter((atMs) => atMs > sinceMs)];
  const pauses = instants.slice(1).map((atMs, index) => atMs - (instants[index] ?? atMs));
  return `${(Math.max(...pauses) / 1_000).toFixed(1)} s`;
}
