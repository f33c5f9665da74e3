/** The container of a static target as what it reads in TARGET says, restated from docs/architecture.md: it runs, whatever its probes say. */
export function staticContainer(
  target: {
    readonly uid: string;
    readonly creationTimestampMs: number;
    readonly incarnations?: {
      readonly [name: string]: { readonly restartCount: number; readonly startedAtMs: number };
    };
  },
  name: string,
) {
  const { restartCount = 0, startedAtMs = target.creationTimestampMs } = target.incarnations?.[name] ?? {};
  return { name, containerID: staticContainerID(target.uid, name, restartCount), startedAtMs, restartCount };
}

/** The containerID that probelet gives a container of a static target after so many restarts, restated from docs/architecture.md. */
export const staticContainerID = (uid: string, container: string, restarts: number): string =>
  `probelet://${uid}/${container}/${restarts}`;
