/**
 * How large each kind of item can become: 20,000 targets in one bucket, the longest names, every list at its limit. The
 * limits are the product's; what they come to is counted here.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containersMax, probeItemsMax, targetItemBytesMax } from '../../shared/core/spec/limits.ts';
import type { ContainerState } from '../../shared/core/spec/types.ts';
import { behindMax } from '../../shared/core/status/freshness.ts';
import { outboxBytesMax } from '../../shared/core/status/outbox.ts';
import { checkpointParts } from '../../shared/holder/checkpoint.ts';
import { attemptsMax } from '../../shared/holder/probing/step-plan.ts';
import { storedOutputBytesMax } from '../../shared/prober/stored-output.ts';
import { itemBytes, itemBytesMax } from '../../shared/store/item-size.ts';
import { encodeCheckpoint, type ItemKind } from '../../shared/store/records/items.ts';
import { bucketName } from '../../shared/store/records/keys.ts';
import { longestContainer, longestEntries, longestNamespace, longestTargetName } from '../support/longest-entries.ts';

const bucketCount = 256;
const largest = Number.MAX_SAFE_INTEGER;
const uid = crypto.randomUUID();
/**
 * Of a reported containerID, and of each text beside it: shared/api/schema/status-report.ts. Three bytes a character.
 */
const longText = '\u20ac'.repeat(1_024);
/** kubelet's bound on the termination messages of a pod, the share of one container. */
const terminationBytes = (12 * 1_024) / containersMax;

const name = `${longestNamespace}/${longestTargetName(0)}`;
const key = { pk: 'B#3c', sk: `${'3'.repeat(16)}#${name}#PROBE#${longestContainer}#readiness#${longText}` };
const probeName = `${longestContainer}#readiness`;

const state: ContainerState = {
  kind: 'terminated',
  exitCode: -largest,
  reason: longText,
  message: 'm'.repeat(terminationBytes),
  startedAtMs: largest,
  finishedAtMs: largest,
};
const containerStatus = {
  name: longestContainer,
  containerID: longText,
  state,
  lastState: state,
  restartCount: largest,
};
const restartRequest = {
  id: `${uid}/${longestContainer}/${longText}`,
  containerID: longText,
  probeType: 'readiness',
  message: `Container ${longestContainer} failed readiness probe, will be restarted`,
  times: [largest, largest, largest, largest, largest],
};
const attempt = {
  output: 'o'.repeat(storedOutputBytesMax),
  error: 'e'.repeat(storedOutputBytesMax),
  times: Array(7).fill(largest),
};
const probe = { uid, probeName, containerID: longText, digest: 'd'.repeat(64), output: attempt.output };
const shard = {
  shard: 'ff',
  from: 255,
  to: 256,
  generation: largest,
  mode: 'resident',
  times: [largest, largest, largest],
};
const perBucket = <Value>(value: Value) =>
  Object.fromEntries(Array.from({ length: bucketCount }, (_, at) => [`generation:${bucketName(at)}`, value]));

/** What is neither a list nor a text of others: counters, times and flags, generously. */
const counters = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`counterWithALongName${at}`, -largest]));

const containers = Array.from({ length: containersMax }, (_, at) => at);

const largestOf: { readonly [kind in ItemKind]: () => readonly { readonly [attribute: string]: unknown }[] } = {
  TARGET: () => [{ ...key, ...counters, manifest: 'm'.repeat(targetItemBytesMax) }],
  REPORT: () => [{ ...key, ...counters, report: 'r'.repeat(targetItemBytesMax) }],
  PROBE: () => [{ ...key, ...counters, ...probe }],
  EVENT: () => [{ ...key, ...counters, ...probe, message: attempt.output, attempts: Array(attemptsMax).fill(attempt) }],
  STATUS: () => [
    {
      ...key,
      ...counters,
      // What is reported fits into a report; static containers have no texts of others.
      status: { reported: 'r'.repeat(targetItemBytesMax), names: containers.map(() => longestContainer) },
      incarnations: Object.fromEntries(
        containers.map((at) => [`${longestContainer}${at}`, { ...counters, lastState: containerStatus.name }]),
      ),
      restartRequests: Object.fromEntries(containers.map((at) => [`${longestContainer}${at}`, restartRequest])),
      acked: Object.fromEntries(Array.from({ length: probeItemsMax }, (_, at) => [`${probeName}${at}`, largest])),
      outbox: ['o'.repeat(outboxBytesMax)],
    },
  ],
  HANG: () => [
    {
      ...key,
      ...counters,
      hangs: Object.fromEntries(Array.from({ length: probeItemsMax }, (_, at) => [`${probeName}${at}`, largest])),
    },
  ],
  EPOCH: () => [{ ...key, ...counters }],
  RUN: () => [
    {
      ...key,
      ...counters,
      behind: Object.fromEntries(
        Array.from({ length: behindMax }, (_, at) => [
          `${name.slice(3)}${`${at}`.padStart(3, '0')}#${probeName}`,
          Date.now(),
        ]),
      ),
    },
  ],
  CHECKPOINT: () =>
    checkpointParts(longestEntries('3c', 20_000)).map((entries, part) => encodeCheckpoint('3c', { entries }, part)),
  LAYOUT: () => [{ ...key, ...counters, shards: Array(bucketCount).fill(shard), ...perBucket(largest) }],
  WEIGHT: () => [{ ...key, ...counters }],
  NOHOLDER: () => [{ ...key, ...counters, ranges: perBucket(shard) }],
  CHANGES: () => [{ ...key, ...perBucket(largest) }],
};

for (const [kind, items] of Object.entries(largestOf))
  test(`a ${kind} at every limit can be stored`, () => {
    const bytes = Math.max(...items().map(itemBytes));
    assert.ok(bytes <= itemBytesMax, `${bytes} bytes of ${itemBytesMax}`);
  });
