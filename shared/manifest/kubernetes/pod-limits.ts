/** Numbers of probes that Kubernetes takes and the API does not: they become the highest that it takes. */
import {
  gracePeriodSecondsMax,
  initialDelaySecondsMax,
  periodSecondsMax,
  thresholdMax,
  timeoutSecondsMax,
} from '../../core/spec/limits.ts';
import { ownProperty } from '../../lib/own-property.ts';
import type { Path } from '../manifest.ts';
import type { Members } from '../values.ts';
import { mapProbes } from './pod-probes.ts';

const highest: { readonly [field: string]: number } = {
  initialDelaySeconds: initialDelaySecondsMax,
  periodSeconds: periodSecondsMax,
  timeoutSeconds: timeoutSecondsMax,
  successThreshold: thresholdMax,
  failureThreshold: thresholdMax,
  terminationGracePeriodSeconds: gracePeriodSecondsMax,
};

export type CutNumber = { readonly path: Path; readonly field: string; readonly written: number; readonly max: number };

export type WithinLimits = { readonly spec: Members; readonly cut: readonly CutNumber[] };

/** A copy of the spec of a Pod with numbers that the API takes, and the places of those that were higher. */
export function withinLimits(spec: Members): WithinLimits {
  const cut: CutNumber[] = [];
  const limited = mapProbes(spec, ({ probe, path }) =>
    Object.fromEntries(
      Object.entries(probe).map(([field, written]) => {
        const max = ownProperty(highest, field) ?? Number.POSITIVE_INFINITY;
        if (typeof written !== 'number' || !Number.isInteger(written) || written <= max) return [field, written];
        cut.push({ path: [...path, field], field, written, max });
        return [field, max];
      }),
    ),
  );
  return { spec: limited, cut };
}
