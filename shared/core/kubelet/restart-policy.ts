/**
 * Whether a container that ended is restarted (pkg/api/v1/pod/util.go: ContainerShouldRestart,
 * AllContainersCouldRestart).
 */
import type { ContainerSpec, TargetSpec } from '../spec/spec.ts';
import type { RestartPolicy, RestartPolicyRule } from '../spec/types.ts';

/** The restart policy and rules of a container. */
export type Restartable = Pick<ContainerSpec, 'restartPolicy' | 'restartPolicyRules'>;

/**
 * The container's rules first, then its policy, then the pod's. Rules count only if the container has a policy: the API
 * requires one, and kubelet ignores rules without it.
 */
export function containerShouldRestart(container: Restartable, podPolicy: RestartPolicy, exitCode: number): boolean {
  const own = container.restartPolicy;
  // Both actions, Restart and RestartAllContainers, start this container again, so it does not matter which rule is
  // first.
  if (own && container.restartPolicyRules?.some((rule) => ruleMatches(rule, exitCode))) return true;
  switch (own ?? podPolicy) {
    case 'Always':
      return true;
    case 'OnFailure':
      return exitCode !== 0;
    case 'Never':
      return false;
  }
}

/**
 * Whether ending with this code restarts all containers, this one included. Here a rule also counts without a policy of
 * the container.
 */
export const restartsAllContainers = (container: Restartable, exitCode: number): boolean =>
  container.restartPolicyRules?.some((rule) => rule.action === 'RestartAllContainers' && ruleMatches(rule, exitCode)) ??
  false;

/** Whether the rules of some container may restart all of them: then each may leave its terminated state. */
export function allContainersCouldRestart(spec: Pick<TargetSpec, 'containers' | 'initContainers'>): boolean {
  return [...spec.initContainers, ...spec.containers].some((container) =>
    container.restartPolicyRules?.some((rule) => rule.action === 'RestartAllContainers'),
  );
}

/** A sidecar: an init container that runs beside the others. */
export const isRestartableInit = (container: ContainerSpec): boolean => container.restartPolicy === 'Always';

function ruleMatches(rule: RestartPolicyRule, exitCode: number): boolean {
  return rule.values.includes(exitCode) === (rule.operator === 'In');
}
