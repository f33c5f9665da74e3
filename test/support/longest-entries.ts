/**
 * Checkpoint entries as long as they can be: a probe of each type, of targets that all lie in one bucket and have the
 * longest names.
 */

import { namespaceLengthMax, targetNameLengthMax } from '../../shared/core/spec/limits.ts';
import type { CheckpointEntry } from '../../shared/store/records/shard-records.ts';

const nameDigits = 8;
const sliceDigits = 14;
/** Of a container: a DNS label. */
const containerLengthMax = 63;

export const longestNamespace = 'n'.repeat(namespaceLengthMax);
export const longestContainer = 'c'.repeat(containerLengthMax);

export const longestTargetName = (number: number): string =>
  `${'t'.repeat(targetNameLengthMax - nameDigits)}${String(number).padStart(nameDigits, '0')}`;

export function longestEntries(bucket: string, targets: number): { readonly [probeSk: string]: CheckpointEntry } {
  const entries: Record<string, CheckpointEntry> = {};
  for (let number = 0; number < targets; number += 1) {
    const hash = `${bucket}${number.toString(16).padStart(sliceDigits, '0')}`;
    const target = `${hash}#${longestNamespace}/${longestTargetName(number)}`;
    for (const probeType of ['liveness', 'readiness', 'startup'])
      entries[`${target}#PROBE#${longestContainer}#${probeType}`] = {
        uid: crypto.randomUUID(),
        streak: Number.MAX_SAFE_INTEGER,
        resultRun: 9_999,
        lastResult: 'failure',
        owed: true,
        requestsSeen: Number.MAX_SAFE_INTEGER,
      };
  }
  return entries;
}
