/** Who keeps which condition (pkg/kubelet/types/pod_status.go). */

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

/** kubelet's own: nobody else's value of it survives a write-back. */
export const isOwned = (conditionType: string): boolean => owned.has(conditionType);

/** Those whose change makes a status another one; foreign ones (readiness gates among them) do not. */
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

/** Those whose `lastTransitionTime` the status manager keeps; a foreign condition's is its owner's. */
export const isTimed = (conditionType: string): boolean => timed.has(conditionType);
