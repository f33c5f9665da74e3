/** The containerID that probelet gives a container of a static target after so many restarts, restated from docs/architecture.md. */
export const staticContainerID = (uid: string, container: string, restarts: number): string =>
  `probelet://${uid}/${container}/${restarts}`;
