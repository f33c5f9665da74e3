/** conditions.jsonl: Ready, ContainersReady and Initialized. */
import {
  type ConditionsInput,
  containersReadyCondition,
  podInitializedCondition,
  podReadyCondition,
} from '../../shared/core/kubelet/conditions.ts';
import type { Condition, Phase } from '../../shared/core/spec/types.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';
import {
  condition,
  containerStatus,
  spec,
  type VectorCondition,
  type VectorContainerStatus,
  type VectorPod,
  withoutEmpty,
} from './status-decode.ts';

type Fields = {
  readonly function: 'containersReady' | 'podReady' | 'podInitialized';
  readonly pod: VectorPod;
  readonly oldConditions?: readonly VectorCondition[];
  readonly conditions?: readonly VectorCondition[];
  readonly containerStatuses?: readonly VectorContainerStatus[] | null;
  readonly phase?: Phase;
  readonly expect: VectorCondition;
};

export const runConditions: VectorRunner = (vector) => {
  const fields = vector as unknown as Fields;
  const actual = withoutEmpty(generate(fields));
  return compare(fields.function, actual, withoutEmpty({ observedGeneration: 0, ...fields.expect }));
};

function generate(fields: Fields): Condition {
  const input: ConditionsInput = {
    spec: spec(fields.pod),
    generation: fields.pod.generation ?? 0,
    containerStatuses: fields.containerStatuses?.map(containerStatus) ?? null,
    phase: fields.phase ?? 'Unknown',
  };
  switch (fields.function) {
    case 'containersReady':
      return containersReadyCondition(input);
    case 'podReady':
      return podReadyCondition(input, (fields.conditions ?? []).map(condition));
    case 'podInitialized':
      return podInitializedCondition(input, (fields.oldConditions ?? []).map(condition));
  }
}
