/** The container of a static target as what it reads in TARGET says, restated from docs/architecture.md: it runs, whatever its probes say. */
export function staticContainer(
  target: {
    readonly uid: string;
    readonly creationTimestampMs: number;
    readonly incarnations?: {
      readonly [name: string]: {
        readonly restartCount: number;
        readonly startedAtMs: number;
        readonly joinedGeneration?: number;
      };
    };
  },
  name: string,
) {
  const {
    restartCount = 0,
    startedAtMs = target.creationTimestampMs,
    joinedGeneration,
  } = target.incarnations?.[name] ?? {};
  const run = joinedGeneration === undefined ? restartCount : `${joinedGeneration}.${restartCount}`;
  return { name, containerID: staticContainerID(target.uid, name, run), startedAtMs, restartCount };
}

/** The containerID that probelet gives a container of a static target after so many restarts, restated from docs/architecture.md. */
const staticContainerID = (uid: string, container: string, run: number | string): string =>
  `probelet://${uid}/${container}/${run}`;
