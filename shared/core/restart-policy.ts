/** Whether a container that ended is started again (pkg/api/v1/pod/util.go: ContainerShouldRestart, AllContainersCouldRestart). */
import type { ContainerSpec, TargetSpec } from './spec.ts';
import type { RestartPolicy, RestartPolicyRule } from './types.ts';

/** What a container says of its own restarts. */
export type Restartable = Pick<ContainerSpec, 'restartPolicy' | 'restartPolicyRules'>;

/**
 * The container's own rules first, then its own policy, then the pod's. Rules count only beside an own policy: the API demands one, and
 * kubelet does not look at them without it.
 */
export function containerShouldRestart(container: Restartable, podPolicy: RestartPolicy, exitCode: number): boolean {
  const own = container.restartPolicy;
  // Both actions, Restart and RestartAllContainers, start this container again, so it does not matter which rule is first.
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

/** Ending with this code the container has all of them restarted, itself included; here a rule counts without an own policy too. */
export const restartsAllContainers = (container: Restartable, exitCode: number): boolean =>
  container.restartPolicyRules?.some((rule) => rule.action === 'RestartAllContainers' && ruleMatches(rule, exitCode)) ??
  false;

/** Some container may, by its rules, restart all of them: then each may leave its terminated state. */
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
