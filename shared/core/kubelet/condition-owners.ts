/** Which conditions kubelet owns, compares and times (pkg/kubelet/types/pod_status.go). */

const owned: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodResizeInProgress',
  'PodResizePending',
  'PodReadyToStartContainers',
  'AllContainersRestarting',
]);

/** Set by kubelet and by others. */
export const disruptionTarget = 'DisruptionTarget';

/** Owned by kubelet: a value that another component has set does not survive a write-back. */
export const isOwned = (conditionType: string): boolean => owned.has(conditionType);

/** Conditions whose change makes the status a different one. Foreign ones, such as readiness gates, do not. */
export const isCompared = (conditionType: string): boolean =>
  isOwned(conditionType) || conditionType === disruptionTarget;

const timed: ReadonlySet<string> = new Set([
  'ContainersReady',
  'Ready',
  'Initialized',
  'PodReadyToStartContainers',
  'PodScheduled',
  disruptionTarget,
  'AllContainersRestarting',
]);

/**
 * Conditions whose `lastTransitionTime` the status manager maintains. The owner of a foreign condition sets its time.
 */
export const isTimed = (conditionType: string): boolean => timed.has(conditionType);
