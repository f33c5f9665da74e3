/**
 * The rules of one probe: Kubernetes' (pkg/apis/core/validation) and the product's limits. The rules of a handler are
 * in its row.
 */

import { at, type FieldProblem, inRange, listed, type Range, unless } from './field-problem.ts';
import { handlerKinds, handlers } from './handlers.ts';
import {
  gracePeriodSecondsMax,
  initialDelaySecondsMax,
  periodSecondsMax,
  thresholdMax,
  timeoutSecondsMax,
} from './limits.ts';
import type { ProbeInput } from './spec-input.ts';
import type { ProbeType } from './types.ts';

type Problems = readonly FieldProblem[];

/** The JSON pointer of a probe, and its type. */
export type ProbePlace = { readonly probeType: ProbeType; readonly pointer: string };

export function probeProblems(probe: ProbeInput, place: ProbePlace): Problems {
  const { pointer } = place;
  const number = (field: keyof typeof ranges) => inRange(probe[field], ranges[field], at(pointer, field));
  return [
    ...handlerProblems(probe, place),
    ...number('initialDelaySeconds'),
    ...number('periodSeconds'),
    ...number('timeoutSeconds'),
    ...number('failureThreshold'),
    ...successThresholdProblems(probe.successThreshold, place),
    ...gracePeriodProblems(probe.terminationGracePeriodSeconds, place),
  ];
}

/** Where there is a default, Kubernetes reads 0 as absent: Go clients and charts write it. */
const ranges = {
  initialDelaySeconds: { min: 0, max: initialDelaySecondsMax },
  periodSeconds: { min: 0, max: periodSecondsMax },
  timeoutSeconds: { min: 0, max: timeoutSecondsMax },
  failureThreshold: { min: 0, max: thresholdMax },
  successThreshold: { min: 0, max: thresholdMax },
  terminationGracePeriodSeconds: { min: 1, max: gracePeriodSecondsMax },
} as const satisfies { readonly [field in keyof ProbeInput]: Range };

function successThresholdProblems(value: number | undefined, { probeType, pointer }: ProbePlace): Problems {
  const field = at(pointer, 'successThreshold');
  if (probeType === 'readiness') return inRange(value, ranges.successThreshold, field);
  return unless(!value || value === 1, field, 'must be 1 for liveness and startup probes');
}

function gracePeriodProblems(value: number | undefined, { probeType, pointer }: ProbePlace): Problems {
  const field = at(pointer, 'terminationGracePeriodSeconds');
  if (probeType === 'readiness') return unless(value === undefined, field, 'must not be set for readiness probes');
  return inRange(value, ranges.terminationGracePeriodSeconds, field);
}

function handlerProblems(probe: ProbeInput, { pointer }: ProbePlace): Problems {
  const given = handlerKinds.filter((kind) => probe[kind] !== undefined);
  const [first, ...others] = given;
  if (first === undefined) return [{ pointer, detail: `must have one handler: ${listed(handlerKinds, 'or')}` }];
  return [
    ...others.map((other) => ({ pointer: at(pointer, other), detail: `must not be set beside ${first}` })),
    ...given.flatMap((kind) => handlers[kind].problems(probe[kind] as never, at(pointer, kind))),
  ];
}
