/** The statuses of all containers of a pod, whichever of the two lists they are in. */
import type { ContainerStatus } from './types.ts';

type Lists = {
  readonly initContainerStatuses: readonly ContainerStatus[];
  readonly containerStatuses: readonly ContainerStatus[];
};

/** Those of init containers first. */
export const statusesOf = ({ initContainerStatuses, containerStatuses }: Lists): readonly ContainerStatus[] => [
  ...initContainerStatuses,
  ...containerStatuses,
];

/** Names are unique in both lists together; undefined: there is none of that name. */
export const statusNamed = (lists: Lists, container: string): ContainerStatus | undefined =>
  statusesOf(lists).find(({ name }) => name === container);
